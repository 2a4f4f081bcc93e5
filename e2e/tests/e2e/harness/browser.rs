//! A real Chromium without a window, in the words of a person who uses it. Every wait is bounded:
//! what does not come within ten seconds is a failure that says what the page showed instead.
//! Stories with a browser are about pages, so they run on one database only.

mod axe;
mod driver;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) use self::axe::Finding;
use self::driver::{Driver, Fault, Session};
use crate::harness::{Ran, wait};

/// A desk.
pub(crate) const WIDE: u32 = 1280;
/// A telephone.
pub(crate) const NARROW: u32 = 390;

const AT_MOST: Duration = Duration::from_secs(10);

/// The name under which the standard hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What may be otherwise a moment later: the page is still being built, or is being replaced.
const PASSING: [&str; 4] = [
    "no such element",
    "stale element reference",
    "element not interactable",
    "element click intercepted",
];

/// One window with cookies of its own.
pub(crate) struct Browser {
    session: Session,
}

impl Browser {
    /// Opens a window of that many pixels. At most two browsers are open at a time; others wait.
    pub(crate) async fn open(width: u32) -> Self {
        Self::on(Arc::new(Driver::start().await), width).await
    }

    /// A second person in the same story. It does not wait for a seat: two stories that each held
    /// one and waited for another would wait for ever.
    pub(crate) async fn another(&self, width: u32) -> Self {
        Self::on(self.session.driver(), width).await
    }

    async fn on(driver: Arc<Driver>, width: u32) -> Self {
        let browser = Self { session: Session::open(driver).await };
        browser.resize(width).await;
        browser
    }

    /// Makes the window that wide; below 720 pixels it is a telephone with a touch screen.
    pub(crate) async fn resize(&self, width: u32) {
        let narrow = width < 720;
        let (height, scale) = if narrow { (844, 2) } else { (800, 1) };
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": narrow,
        });
        self.cdp("Emulation.setDeviceMetricsOverride", &metrics).await;
        self.cdp("Emulation.setTouchEmulationEnabled", &json!({"enabled": narrow})).await;
    }

    /// As if the system were set to dark.
    pub(crate) async fn dark(&self) {
        self.prefer("dark").await;
    }

    /// As if the system were set to light, which is also how a window opens.
    pub(crate) async fn light(&self) {
        self.prefer("light").await;
    }

    async fn prefer(&self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.cdp("Emulation.setEmulatedMedia", &json!({"features": [feature]})).await;
    }

    /// From the next page on, pages must do without scripts. The story's own still run.
    pub(crate) async fn without_script(&self) {
        self.cdp("Emulation.setScriptExecutionDisabled", &json!({"value": true})).await;
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) async fn go(&self, url: &str) {
        self.post("/url", &json!({"url": url})).await;
    }

    pub(crate) async fn url(&self) -> String {
        text(&self.get("/url").await)
    }

    /// Clicks what a selector finds first; a page that opens by it is loaded afterwards.
    pub(crate) async fn click(&self, css: &str) {
        let nothing = json!({});
        self.act("click", "css selector", css, async |element| {
            self.session.post(&format!("/element/{element}/click"), &nothing).await
        })
        .await;
    }

    /// Clicks the button, link, summary or label that reads exactly so.
    pub(crate) async fn click_text(&self, text: &str) {
        let quote = if text.contains('"') { '\'' } else { '"' };
        let reads = format!("[normalize-space()={quote}{text}{quote}]");
        let kinds = ["a", "button", "summary", "label"].map(|kind| format!("//{kind}{reads}"));
        let nothing = json!({});
        self.act("click", "xpath", &kinds.join("|"), async |element| {
            self.session.post(&format!("/element/{element}/click"), &nothing).await
        })
        .await;
    }

    /// Writes into a field, instead of what stands in it.
    pub(crate) async fn fill(&self, css: &str, text: &str) {
        let (nothing, keys) = (json!({}), json!({"text": text}));
        self.act("fill", "css selector", css, async |element| {
            self.session.post(&format!("/element/{element}/clear"), &nothing).await?;
            self.session.post(&format!("/element/{element}/value"), &keys).await
        })
        .await;
    }

    /// Presses keys in a field and leaves what stands in it. The path of a file, in a field for
    /// files, chooses this file.
    pub(crate) async fn press(&self, css: &str, keys: &str) {
        let keys = json!({"text": keys});
        self.act("press", "css selector", css, async |element| {
            self.session.post(&format!("/element/{element}/value"), &keys).await
        })
        .await;
    }

    /// Chooses an option of a list by its value.
    pub(crate) async fn choose(&self, css: &str, value: &str) {
        self.click(&format!("{css} option[value=\"{value}\"]")).await;
    }

    /// Clicks the button that sends a form.
    pub(crate) async fn submit(&self, form: &str) {
        self.click(&format!("{form} :is([type=submit], button:not([type]))")).await;
    }

    /// The text a person sees in the first element that a selector finds.
    pub(crate) async fn text(&self, css: &str) -> String {
        self.wait_for(css).await;
        self.texts(css).await.swap_remove(0)
    }

    /// The same of all elements, none included.
    pub(crate) async fn texts(&self, css: &str) -> Vec<String> {
        let seen = "element.checkVisibility() ? element.innerText.trim() : ''";
        let texts = self.of_all(css, seen).await;
        texts.iter().map(text).collect()
    }

    /// What stands in a field.
    pub(crate) async fn value(&self, css: &str) -> String {
        self.wait_for(css).await;
        text(&self.of_all(css, "element.value").await[0])
    }

    /// How many elements a selector finds.
    pub(crate) async fn count(&self, css: &str) -> usize {
        self.of_all(css, "0").await.len()
    }

    /// Waits until a selector finds something.
    pub(crate) async fn wait_for(&self, css: &str) {
        let found = async || (self.count(css).await > 0).then_some(());
        self.within(&format!("{css} is there"), found).await;
    }

    /// Waits until a text can be read somewhere on the page.
    pub(crate) async fn wait_for_text(&self, text: &str) {
        let found = async || self.shown().await.contains(text).then_some(());
        self.within(&format!("{text:?} can be read"), found).await;
    }

    /// Runs the body of a function in the page; what it returns.
    pub(crate) async fn script(&self, body: &str) -> Value {
        self.script_of(body, &[]).await
    }

    /// A picture of the whole page, as PNG.
    pub(crate) async fn screenshot(&self, path: &Path) {
        let whole = json!({"format": "png", "captureBeyondViewport": true});
        let taken = self.cdp("Page.captureScreenshot", &whole).await;
        write_picture(path, &taken["data"]);
    }

    /// A picture of one element, as PNG.
    pub(crate) async fn element_screenshot(&self, css: &str, path: &Path) {
        // The driver scrolls only to what cannot be seen at all, and cuts off what sticks out.
        self.of_all(css, "element.scrollIntoView({block: 'center', behavior: 'instant'})").await;
        let taken = self.act("take a picture of", "css selector", css, async |element| {
            self.session.get(&format!("/element/{element}/screenshot")).await
        });
        write_picture(path, &taken.await);
    }

    /// What a telephone reads from the QR codes of one element.
    pub(crate) async fn scan(&self, css: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let picture = folder.path().join("codes.png");
        self.element_screenshot(css, &picture).await;
        let mut zbar = Command::new("zbarimg");
        zbar.args(["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"]).arg(picture);
        Ran::new(&mut zbar).stdout.lines().map(str::to_owned).collect()
    }

    /// What the console holds of errors, broken policies and failed requests included. Each is told
    /// once.
    pub(crate) async fn console_errors(&self) -> Vec<String> {
        let told = self.post("/se/log", &json!({"type": "browser"})).await;
        let entries = told.as_array().expect("a list").iter();
        let severe = entries.filter(|entry| entry["level"] == "SEVERE");
        severe.map(|entry| text(&entry["message"])).collect()
    }

    /// Fails if the console holds an error.
    pub(crate) async fn assert_quiet(&self) {
        let (errors, url) = (self.console_errors().await, self.url().await);
        assert!(errors.is_empty(), "errors in the console at {url}:\n{}", errors.join("\n"));
    }

    /// Fails if the page must be scrolled sideways; names what sticks out.
    pub(crate) async fn assert_fits(&self) {
        let (wider, url) = (self.sticking_out().await, self.url().await);
        assert!(wider.is_empty(), "{url} scrolls sideways because of {}", wider.join(", "));
    }

    /// What makes the page wider than the window.
    pub(crate) async fn sticking_out(&self) -> Vec<String> {
        self.script(WIDER).await.as_array().expect("a list").iter().map(text).collect()
    }

    /// Says yes to the question that is open; its text.
    pub(crate) async fn accept_dialog(&self) -> String {
        let question = async || self.session.get("/alert/text").await.ok();
        let question = wait::until("a question is open", AT_MOST, question).await;
        self.post("/alert/accept", &json!({})).await;
        text(&question)
    }

    /// The cookies this page would send, each as the standard describes one.
    pub(crate) async fn cookies(&self) -> Vec<Value> {
        self.get("/cookie").await.as_array().expect("a list").clone()
    }

    /// An expression that the debugger computes: no policy of the page holds it back.
    async fn evaluate(&self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let told = self.cdp("Runtime.evaluate", &asked).await;
        assert_eq!(told["exceptionDetails"], Value::Null, "{told}");
        told["result"]["value"].clone()
    }

    /// A command of the debugger.
    async fn cdp(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": params})).await
    }

    /// An expression about each element that a selector finds.
    async fn of_all(&self, css: &str, expression: &str) -> Vec<Value> {
        let body = format!(
            "return [...document.querySelectorAll(arguments[0])].map(element => {expression})"
        );
        self.script_of(&body, &[css]).await.as_array().expect("a list").clone()
    }

    async fn script_of(&self, body: &str, args: &[&str]) -> Value {
        self.post("/execute/sync", &json!({"script": body, "args": args})).await
    }

    /// All text on the page that a person sees.
    async fn shown(&self) -> String {
        text(&self.script("return document.body.innerText").await)
    }

    /// Finds an element and does something with it, again while it may still come.
    async fn act(
        &self,
        verb: &str,
        using: &str,
        value: &str,
        work: impl AsyncFn(&str) -> Result<Value, Fault>,
    ) -> Value {
        let wanted = json!({"using": using, "value": value});
        let attempt = async || {
            let found = self.session.post("/element", &wanted).await?;
            work(found[ELEMENT].as_str().expect("an element has an id")).await
        };
        let attempt = async || match attempt().await {
            Ok(done) => Some(done),
            Err(fault) if PASSING.contains(&fault.name.as_str()) => None,
            Err(fault) => panic!("cannot {verb} {value}: {fault}"),
        };
        self.within(&format!("one can {verb} {value}"), attempt).await
    }

    /// Waits for a result. A failure shows where the page was and what it said.
    async fn within<T>(&self, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
        let waiting = async {
            let rt = store::Rt::real();
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                rt.sleep(Duration::from_millis(50)).await;
            }
        };
        if let Ok(found) = tokio::time::timeout(AT_MOST, waiting).await {
            return found;
        }
        let (url, shown) = (self.url().await, self.shown().await);
        panic!("not within {AT_MOST:?}: {what}\n{url} shows:\n{shown}")
    }

    async fn get(&self, path: &str) -> Value {
        let told = self.session.get(path).await;
        told.unwrap_or_else(|fault| panic!("{path}: {fault}"))
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let told = self.session.post(path, body).await;
        told.unwrap_or_else(|fault| panic!("{path}: {fault}"))
    }
}

/// The elements that stick out, if the page as a whole is wider than the window. A telephone
/// shrinks a page that is too wide, so the width of the window itself would tell nothing.
const WIDER: &str = "\
    const page = document.documentElement, width = page.clientWidth;\
    if (page.scrollWidth <= width) return [];\
    const out = [...document.querySelectorAll('body *')]\
        .filter(one => one.getBoundingClientRect().right > width + 0.5);\
    return [page, ...out].slice(0, 6)\
        .map(one => one.tagName.toLowerCase() + (one.className ? '.' + one.className : ''));";

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn write_picture(path: &Path, data: &Value) {
    let picture = STANDARD.decode(text(data)).expect("a picture as text");
    std::fs::write(path, picture).expect("the picture can be kept");
}
