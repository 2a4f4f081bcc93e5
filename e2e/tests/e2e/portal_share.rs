//! The traveller's page in a real browser: everything by a link, nothing without it.

use crate::desk::{consume, esim, of, text};
use crate::harness::Home;
use crate::harness::browser::NARROW;
use crate::portal_window::Window;
use crate::shop::{self, PLENTY, reseller};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_shows_a_traveller_everything_until_it_is_taken_back() {
    let world = shop::open(Home::sqlite(), 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    consume(&world, &org, &iccid, 250_000_000).await;
    let window = Window::of_role(&world, &org, "Support").await;
    window.visit(&format!("/portal/esims/{iccid}")).await;
    window.click_text("Make a link").await;
    window.submit("form[action$='/share']").await;
    assert!(window.said().await.starts_with("The link is made."));
    let link = window.script("return document.querySelector('a[href*=\"/share/\"]').href").await;
    let link = text(&link);
    world.is_secret(link.rsplit('/').next().expect("a token"));

    let traveller = window.another(NARROW).await;
    traveller.go(&link).await;
    assert!(traveller.cookies().await.is_empty());
    assert_eq!(traveller.text("h1").await, "Your eSIM");
    let shown = traveller.shown().await;
    assert!(shown.contains("750 MB") && shown.contains("data left of 1 GB"), "{shown}");
    assert!(shown.contains("Reseller") && !shown.contains("USD"), "{shown}");
    let code = of(&world, &org, &iccid, "").await;
    let installs = format!("LPA:1${}${}", text(&code["smdpAddress"]), text(&code["matchingId"]));
    // Its data was used, so it counts as installed, and the ways to do so are folded.
    traveller.unfold().await;
    assert_eq!(traveller.scan("figure.qr").await, [installs]);
    for start in ["https://esimsetup.apple.com/", "https://esimsetup.android.com/"] {
        assert_eq!(traveller.count(&format!("a[href^='{start}']")).await, 1, "{start}");
    }
    assert!(traveller.cookies().await.is_empty());
    assert_eq!(traveller.count("script").await, 0);
    traveller.assert_well().await;

    window.submit("form[action$='/unshare']").await;
    window.wait_for_text("The link is revoked.").await;
    traveller.go(&link).await;
    assert_eq!(traveller.text("h1").await, "There is nothing here");
    let shown = traveller.shown().await;
    assert!(shown.contains("Ask whoever gave it to you") && !shown.contains("Reseller"), "{shown}");
    let told = traveller.console_errors().await;
    assert!(told.len() == 1 && told[0].contains("404"), "{told:?}");
    traveller.assert_well().await;
    window.assert_quiet().await;
}
