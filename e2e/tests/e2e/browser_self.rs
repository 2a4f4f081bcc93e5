//! The browser of the other stories on pages of our own: it does what a person does, and its checks
//! find what is wrong.

use std::path::Path;

use serde_json::json;

use crate::harness::browser::{Finding, NARROW, WIDE};
use crate::harness::{Browser, Home, Request, World};
use crate::shop::{PLENTY, PT, buy, iccid, matching_id, onto_new, open, reseller};

/// Keeps what a page holds as a file; its address.
fn page(folder: &Path, name: &str, content: &str) -> String {
    let file = folder.join(name);
    let sized = "<meta name=viewport content='width=device-width, initial-scale=1'>";
    let html = format!("<!doctype html><html lang=en><title>{name}</title>{sized}{content}");
    std::fs::write(&file, html).expect("a file in our own folder");
    format!("file://{}", file.display())
}

const FORM: &str = "<h1>Order</h1><form action=other.html>\
    <label>Name <input name=name value=old></label>\
    <select name=kind aria-label=Kind><option value=a>A<option value=b>B</select>\
    <input type=file name=list aria-label=List>\
    <button>Send</button></form>\
    <button type=button onclick=\"if (confirm('Sure?')) this.textContent = 'Gone'\">Delete</button>\
    <p hidden>unseen</p><ul><li>one</li><li>two</li></ul>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_does_what_a_person_does() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = page(folder.path(), "other.html", "<h1>Thanks</h1>");
    let browser = Browser::open(WIDE).await;
    browser.go(&page(folder.path(), "form.html", FORM)).await;
    assert_eq!(browser.texts("li").await, ["one", "two"]);
    assert_eq!(browser.text("p").await, "", "what is hidden cannot be read");
    browser.fill("[name=name]", "new").await;
    assert_eq!(browser.value("[name=name]").await, "new");
    browser.press("[name=name]", "er").await;
    browser.choose("select", "b").await;
    let file = folder.path().join("form.html");
    browser.press("[type=file]", file.to_str().expect("plain letters")).await;
    assert!(browser.value("[type=file]").await.ends_with("form.html"));
    browser.click_text("Delete").await;
    assert_eq!(browser.accept_dialog().await, "Sure?");
    browser.wait_for_text("Gone").await;
    browser.submit("form").await;
    assert_eq!(browser.url().await, format!("{other}?name=newer&kind=b&list=form.html"));
    assert_eq!(browser.text("h1").await, "Thanks");
    browser.assert_quiet().await;
}

const BAD: &str = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">\
    <h1>Bad</h1><img src=data:,><script>window.ran = true</script>\
    <div style='width: 3000px'>wide</div>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_checks_find_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let browser = Browser::open(NARROW).await;
    browser.go(&page(folder.path(), "bad.html", BAD)).await;
    let errors = browser.console_errors().await;
    assert!(errors.iter().any(|error| error.contains("Content Security Policy")), "{errors:?}");
    assert_eq!(browser.script("return window.ran").await, json!(null));
    let mut serious = browser.axe().await;
    serious.retain(Finding::is_serious);
    let serious: Vec<_> = serious.into_iter().map(|one| (one.id, one.targets)).collect();
    assert_eq!(serious, [("image-alt".to_owned(), vec!["img".to_owned()])]);
    assert_eq!(browser.sticking_out().await, ["html", "div"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_takes_pictures_and_reads_codes() {
    let world = open(Home::sqlite(), 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    let target = format!("/v2.5/esims/{}/qr", iccid(1));
    let code = world.node.send(&Request::get(&target).key(&org.key)).await.expect(200);
    let folder = world.home.folder();
    std::fs::write(folder.join("code.png"), code.body).expect("a file in our own folder");
    let browser = Browser::open(NARROW).await;
    let content = "<h1>Install</h1><img alt=code src=code.png width=240><p class=tall>";
    let tall = format!("{content}<style>.tall {{ height: 2000px }}</style>");
    browser.go(&page(folder, "code.html", &tall)).await;
    let installs = format!("LPA:1$rsp.example${}", matching_id(1));
    assert_eq!(browser.scan("img").await, [installs]);
    let picture = folder.join("whole.png");
    browser.screenshot(&picture).await;
    let picture = std::fs::read(picture).expect("the picture is there");
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(side(16), 2 * NARROW, "two pixels for each of the page");
    assert!(side(20) > 4_000, "all of the page, not only what is on the screen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_share_nothing() {
    let world = World::start(Home::sqlite()).await;
    let docs = format!("http://{}/docs/changelog", world.node.address);
    let first = Browser::open(WIDE).await;
    let second = first.another(NARROW).await;
    first.go(&docs).await;
    second.go(&docs).await;
    first.script("document.cookie = 'who=first'").await;
    let cookies = first.cookies().await;
    assert_eq!((cookies.len(), &cookies[0]["value"]), (1, &json!("first")));
    assert!(second.cookies().await.is_empty());
}
