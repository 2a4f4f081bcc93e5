//! Money at the portal, in a real browser: what is bought, given back and topped up is what the
//! page said before, and once.

use serde_json::json;

use crate::desk::{consume, esim, of, stock_up, text};
use crate::harness::browser::{NARROW, WIDE};
use crate::harness::{Home, World};
use crate::money::balance;
use crate::portal::add_person;
use crate::portal_window::Window;
use crate::shop::{self, PLENTY, PT, iccids, listed, lots, matching_id, reseller};

const BUNDLE: &str = "/portal/catalogue/esim_1GB_7D_PT_V2";
const CHECK: &str = "form[action='/portal/catalogue/buy/check']";
const BUY: &str = "form[action='/portal/catalogue/buy']";

async fn shop() -> World {
    shop::open(Home::sqlite(), 10).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_is_bought_onto_new_esims_whose_codes_can_be_scanned() {
    let world = shop().await;
    let org = reseller(&world, PLENTY).await;
    let window = Window::of_role(&world, &org, "Owner").await;
    window.click_text("Catalogue").await;
    window.fill("#search", "portugal").await;
    // Found while one types.
    window.wait_for_path("?q=portugal").await;
    window.follow(&format!("a[href='{BUNDLE}']")).await;
    window.fill("[name=quantity]", "2").await;
    window.click("[name=target][value=new]").await;
    window.submit(CHECK).await;
    for (label, value) in [
        ("How many", "2"),
        ("Price each", "2.40 USD"),
        ("Where to", "New eSIMs"),
        ("Total", "4.80 USD"),
        ("Balance now", "1,000.00 USD"),
        ("Balance after", "995.20 USD"),
    ] {
        assert_eq!(window.fact(label).await, value, "{label}");
    }
    assert_eq!(balance(&world, &org).await, PLENTY, "a summary takes nothing");

    // An impatient hand, and a browser that sends the form again: one order.
    let form = window.form(BUY).await;
    assert_eq!(window.text(&format!("{BUY} button")).await, "Pay 4.80 USD");
    let twice = "const pay = document.querySelector(arguments[0]); pay.click(); pay.click()";
    window.script(&twice.replace("arguments[0]", &format!("\"{BUY} button\""))).await;
    window.wait_for_text("Bought.").await;
    let order = window.path().await;
    for _ in 0..2 {
        assert_eq!(window.post("/portal/catalogue/buy", &form).await, (200, order.clone()));
    }
    let orders = listed(&world, &org, "").await;
    assert_eq!(
        (orders.len(), order),
        (1, format!("/portal/orders/{}", shop::reference(&orders[0])))
    );
    assert_eq!(balance(&world, &org).await, PLENTY - 2 * PT.price);
    // The same token with other contents is no way to a second one.
    let mut other = form.clone();
    for field in other.as_array_mut().expect("fields") {
        if field[0] == "quantity" {
            field[1] = json!("3");
        }
    }
    window.post("/portal/catalogue/buy", &other).await;
    assert_eq!(balance(&world, &org).await, PLENTY - 2 * PT.price);

    let iccid = iccids(&orders[0]).remove(0);
    window.visit(&format!("/portal/orders/{}", shop::reference(&orders[0]))).await;
    window.follow(&format!("a.row[href='/portal/esims/{iccid}']")).await;
    let shown = of(&world, &org, &iccid, "").await;
    let installs = format!("LPA:1${}${}", text(&shown["smdpAddress"]), text(&shown["matchingId"]));
    assert_eq!(window.scan("figure.qr").await, [installs.as_str()]);
    window.resize(NARROW).await;
    window.dark().await;
    assert_eq!(window.scan("figure.qr").await, [installs.as_str()], "also at night, on a phone");
    assert!([matching_id(1), matching_id(2)].iter().any(|id| installs.ends_with(id)));
    window.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bundles_are_given_back_once_for_what_the_page_says() {
    let world = shop().await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 5)]).await;
    let window = Window::of_role(&world, &org, "Owner").await;
    window.click_text("Inventory").await;
    window.follow("a.row[href^='/portal/inventory/']").await;
    window.click(".confirm summary").await;
    let says = window.text(".confirm p").await;
    assert!(says.contains("2.40 USD for each") && says.contains("12.00 USD for all 5"), "{says}");
    let refund = "form[action='/portal/inventory/refund']";
    window.fill(&format!("{refund} [name=quantity]"), "2").await;
    let form = window.form(refund).await;
    window.submit(refund).await;
    window.wait_for_text("Given back.").await;
    let wanted = PLENTY - 3 * PT.price;
    assert_eq!(balance(&world, &org).await, wanted);
    window.post("/portal/inventory/refund", &form).await;
    assert_eq!(balance(&world, &org).await, wanted, "once");
    assert_eq!(lots(&world, &org, PT).await[0]["remaining"], 3);
    window.visit("/portal/billing").await;
    assert_eq!(window.fact("Balance").await, "992.80 USD");
    window.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declined_card_takes_nothing_and_a_paying_one_is_kept() {
    let world = shop().await;
    let org = reseller(&world, PLENTY).await;
    let window = Window::of_role(&world, &org, "Owner").await;
    window.click_text("Billing").await;
    assert_eq!(window.fact("Card").await, "none stored");
    window.click_text("Pay with a card and store it").await;
    window.wait_for_text("This is a test page of the sandbox.").await;
    window.click("[name=card][value=declines]").await;
    window.fill("[name=amount]", "50").await;
    window.submit("form.form").await;
    let declined = "The card was declined. Nothing was charged and your balance is unchanged.";
    let said = window.said().await;
    assert!(said.starts_with(declined), "{said}");
    assert_eq!(balance(&world, &org).await, PLENTY);
    window.visit("/portal/billing").await;
    assert_eq!(window.fact("Card").await, "none stored");

    window.visit("/portal/billing/card").await;
    window.fill("[name=amount]", "25.50").await;
    window.submit("form.form").await;
    assert_eq!(window.said().await, "25.50 USD were added to your balance.");
    assert_eq!(balance(&world, &org).await, PLENTY + 2_550);
    assert_eq!(window.fact("Balance").await, "1,025.50 USD");
    assert!(window.fact("Card").await.contains("pays"));

    // The bank has another opinion of the same card later.
    window.visit("/portal/developers/sandbox").await;
    window.choose("[name=card]", "declines").await;
    window.submit("form[action$='/sandbox/card']").await;
    window.wait_for_text("The test card is changed.").await;
    window.visit("/portal/billing").await;
    let topup = "form[action='/portal/billing/topup']";
    window.fill(&format!("{topup} [name=amount]"), "10").await;
    window.submit(topup).await;
    let said = window.said().await;
    assert!(said.starts_with(declined), "{said}");
    assert_eq!(window.fact("Balance").await, "1,025.50 USD");
    assert_eq!(balance(&world, &org).await, PLENTY + 2_550);
    window.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_follow_what_happens_by_themselves() {
    let world = shop().await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let owner = Window::of_role(&world, &org, "Owner").await;
    let viewer = owner.another(NARROW).await;
    viewer.sign_in(&add_person(&world, &org, "Viewer")).await;
    for window in [&owner, &viewer] {
        window.visit(&format!("/portal/esims/{iccid}")).await;
        assert_eq!(window.fact("Data left").await, "–");
        // Gone if anything loads the page again.
        window.script("window.stays = true").await;
    }
    for (bytes, left) in [(250_000_000, "750 MB"), (240_000_000, "510 MB")] {
        consume(&world, &org, &iccid, bytes).await;
        for window in [&owner, &viewer] {
            window.wait_for_fact("Data left", left).await;
        }
    }
    for window in [&owner, &viewer] {
        assert_eq!(window.script("return window.stays").await, json!(true));
        window.assert_quiet().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_works_without_scripts() {
    let world = shop().await;
    let org = reseller(&world, PLENTY).await;
    let window = Window::open(&world, WIDE).await;
    window.without_script().await;
    window.sign_in(&add_person(&world, &org, "Owner")).await;
    window.click_text("Catalogue").await;
    window.fill("#search", "1GB Portugal").await;
    window.submit("form.search").await;
    window.wait_for_path("?q=1GB").await;
    assert_eq!(window.count("a.row").await, 1);
    window.follow("a.row").await;
    window.click("[name=target][value=new]").await;
    window.submit(CHECK).await;
    window.click_text("Pay 2.40 USD").await;
    assert_eq!(window.said().await, "Bought.");
    window.follow("a.row[href^='/portal/esims/']").await;
    assert_eq!(window.scan("figure.qr").await.len(), 1);
    window.click("details.menu > summary").await;
    window.click_text("Edit customer reference").await;
    window.fill("[name=reference]", "Ana").await;
    window.click(".menu .confirm[open] button").await;
    window.wait_for_fact("Customer reference", "Ana").await;
    for area in ["Overview", "eSIMs", "Orders", "Inventory", "Billing", "Developers", "Team"] {
        window.click_text(area).await;
        assert!(!window.text("h1").await.is_empty(), "{area}");
    }
    // What only a script could do is not offered.
    window.visit("/portal/developers").await;
    assert!(window.texts("button.copy").await.iter().all(String::is_empty));
    let buttons = "return [...document.querySelectorAll('button.copy')]\
        .filter(one => one.checkVisibility()).length";
    assert_eq!(window.script(buttons).await, json!(0));
    window.click("details.person > summary").await;
    window.click_text("Sign out").await;
    window.wait_for_text("You are signed out.").await;
}
