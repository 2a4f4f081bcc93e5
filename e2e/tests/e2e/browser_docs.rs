//! The reference in a real browser: at a desk and on a telephone, by day and by night.

use serde_json::json;

use crate::harness::browser::{NARROW, WIDE};
use crate::harness::{Browser, Home, World};

async fn open(width: u32) -> (World, Browser, String) {
    let world = World::start(Home::sqlite()).await;
    let browser = Browser::open(width).await;
    let docs = format!("http://{}/docs", world.node.address);
    (world, browser, docs)
}

/// What holds on every page, whatever its colours.
async fn is_well(browser: &Browser) {
    browser.assert_fits().await;
    browser.light().await;
    // A reference is hundreds of operations of the same few pieces, and axe looks at each for long.
    browser.script(&format!("{FURTHER}.forEach(operation => operation.remove())")).await;
    browser.assert_accessible().await;
    let light = ground(browser).await;
    browser.dark().await;
    browser.assert_accessible().await;
    assert_ne!(ground(browser).await, light, "the night has colours of its own");
    browser.assert_quiet().await;
}

/// The operations of a reference but for the first.
const FURTHER: &str = "[...document.querySelectorAll('.operation')].slice(12)";

async fn ground(browser: &Browser) -> String {
    let colour = browser.script("return getComputedStyle(document.body).backgroundColor").await;
    colour.as_str().expect("a colour").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_well_on_every_screen() {
    let (_world, browser, docs) = open(WIDE).await;
    for width in [WIDE, NARROW] {
        browser.resize(width).await;
        for page in ["", "/changelog", "/nowhere"] {
            browser.go(&format!("{docs}{page}")).await;
            if page == "/nowhere" {
                // The browser itself calls a 404 an error.
                assert_eq!(browser.console_errors().await.len(), 1);
            }
            is_well(&browser).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_theme_is_chosen_and_remembered() {
    let (_world, browser, docs) = open(WIDE).await;
    browser.go(&docs).await;
    let day = ground(&browser).await;
    assert_eq!(browser.text(".theme").await, "Theme: system");
    browser.click(".theme").await;
    assert_eq!(browser.text(".theme").await, "Theme: light");
    browser.click_text("Theme: light").await;
    assert_eq!(browser.text(".theme").await, "Theme: dark");
    let night = ground(&browser).await;
    assert_ne!(night, day);
    browser.click_text("Changelog").await;
    assert_eq!(browser.url().await, format!("{docs}/changelog"));
    assert_eq!(
        (browser.text(".theme").await, ground(&browser).await),
        ("Theme: dark".into(), night)
    );
    browser.click(".theme").await;
    assert_eq!(
        (browser.text(".theme").await, ground(&browser).await),
        ("Theme: system".into(), day)
    );
    browser.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_do_without_scripts() {
    let (_world, browser, docs) = open(NARROW).await;
    browser.without_script().await;
    browser.go(&docs).await;
    assert_eq!(browser.count("button.theme:not([hidden]), button.copy").await, 0);
    browser.click_text("Changelog").await;
    browser.wait_for_text("v2.5").await;
    let sheets = browser.script("return document.styleSheets.length").await;
    assert_eq!(sheets, json!(1));
}
