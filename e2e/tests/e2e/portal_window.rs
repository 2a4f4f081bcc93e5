//! People of a reseller at the portal with a real browser, and what every page of it must be.

use std::ops::Deref;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::browser::{NARROW, WIDE};
use crate::harness::{Browser, Org, Request, World, wait};
use crate::portal::{PASSWORD, add_person};

/// A page with its style and its script is smaller than this.
const FIRST_VIEW_BYTES_MAX: usize = 100_000;

/// How long a page may take to follow a change.
const FOLLOWS: Duration = Duration::from_secs(30);

/// A browser that knows where the portal is.
pub(crate) struct Window {
    browser: Browser,
    origin: String,
    /// The size of the style and the script that all pages share.
    shared_bytes: usize,
}

impl Deref for Window {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Window {
    pub(crate) async fn open(world: &World, width: u32) -> Self {
        let mut shared_bytes = 0;
        for path in ["/portal/style.css", "/portal/portal.js"] {
            shared_bytes += world.node.send(&Request::get(path)).await.expect(200).body.len();
        }
        let origin = format!("http://{}", world.node.address);
        Self { browser: Browser::open(width).await, origin, shared_bytes }
    }

    /// Somebody else in the same story, with cookies of their own.
    pub(crate) async fn another(&self, width: u32) -> Self {
        let browser = self.browser.another(width).await;
        Self { browser, origin: self.origin.clone(), shared_bytes: self.shared_bytes }
    }

    /// A window in which a new person of that role is signed in.
    pub(crate) async fn of_role(world: &World, org: &Org, role: &str) -> Self {
        let window = Self::open(world, WIDE).await;
        window.sign_in(&add_person(world, org, role)).await;
        window
    }

    /// Signs in as people do, and comes to the overview.
    pub(crate) async fn sign_in(&self, email: &str) {
        self.visit("/portal").await;
        self.fill("[name=email]", email).await;
        self.fill("[name=password]", PASSWORD).await;
        self.submit("form.form").await;
        self.wait_for("header.rail").await;
    }

    /// Opens a page of this service.
    pub(crate) async fn visit(&self, path: &str) {
        self.go(&format!("{}{path}", self.origin)).await;
    }

    /// The path of the page that is open.
    pub(crate) async fn path(&self) -> String {
        let url = self.url().await;
        url.strip_prefix(&self.origin).expect("a page of this service").to_owned()
    }

    /// Clicks a link and waits for the page it leads to.
    pub(crate) async fn follow(&self, css: &str) {
        self.wait_for(css).await;
        let link = json!(css);
        let href = self.script(&format!("return document.querySelector({link}).href")).await;
        let href = href.as_str().expect("a link").to_owned();
        self.click(css).await;
        let there = async || (self.url().await == href).then_some(());
        wait::until(&format!("{href} is open"), FOLLOWS, there).await;
    }

    /// Waits until the address has that in it.
    pub(crate) async fn wait_for_path(&self, part: &str) {
        let there = async || self.path().await.contains(part).then_some(());
        wait::until(&format!("{part} is in the address"), FOLLOWS, there).await;
    }

    /// What a page says once after something was done.
    pub(crate) async fn said(&self) -> String {
        self.text(".said").await
    }

    /// What stands beside a label.
    pub(crate) async fn fact(&self, label: &str) -> String {
        let look = async || self.maybe_fact(label).await;
        wait::until(&format!("the page says {label}"), FOLLOWS, look).await
    }

    /// Waits until that stands beside a label: pages follow changes by themselves.
    pub(crate) async fn wait_for_fact(&self, label: &str, value: &str) {
        let look = async || (self.maybe_fact(label).await.as_deref() == Some(value)).then_some(());
        wait::until(&format!("{label} is {value}"), FOLLOWS, look).await;
    }

    async fn maybe_fact(&self, label: &str) -> Option<String> {
        let label = json!(label);
        let body = format!(
            "return [...document.querySelectorAll('dt')]\
                .find(one => one.innerText.trim() === {label})\
                ?.parentElement.querySelector('dd').innerText.trim() ?? null"
        );
        let found = self.script(&body).await;
        Some(found.as_str()?.replace('\u{a0}', " "))
    }

    /// All text that a person sees.
    pub(crate) async fn shown(&self) -> String {
        self.text("body").await.replace('\u{a0}', " ")
    }

    /// Everything a form would send, in order to send it again.
    pub(crate) async fn form(&self, css: &str) -> Value {
        self.wait_for(css).await;
        let css = json!(css);
        let form = format!("document.querySelector({css})");
        self.script(&format!("return [...new FormData({form})]")).await
    }

    /// Sends fields from within the page, with everything the browser adds by itself; the status
    /// and the path one is led to.
    pub(crate) async fn post(&self, path: &str, fields: &Value) -> (i64, String) {
        let path = json!(path);
        let body = format!(
            "return fetch({path}, {{method: 'POST', body: new URLSearchParams({fields})}})\
                .then(answer => [answer.status, new URL(answer.url).pathname])"
        );
        let told = self.script(&body).await;
        (told[0].as_i64().expect("a status"), told[1].as_str().expect("a path").to_owned())
    }

    /// The word that makes forms of this session ours.
    pub(crate) async fn csrf(&self) -> String {
        self.value("[name=csrf]").await
    }

    /// Unfolds everything there is.
    pub(crate) async fn unfold(&self) {
        self.script("document.querySelectorAll('details').forEach(fold => fold.open = true)").await;
    }

    /// What holds on every page, at a desk and on a telephone.
    pub(crate) async fn assert_well(&self) {
        self.resize(WIDE).await;
        self.assert_fits().await;
        self.assert_open_to_all().await;
        self.assert_light().await;
        self.resize(NARROW).await;
        self.assert_fits().await;
        // Everything that is folded away is seen on one of the two.
        self.unfold().await;
        self.assert_fits().await;
        self.assert_open_to_all().await;
        self.resize(WIDE).await;
        self.assert_quiet().await;
    }

    /// Nothing at all is found, not even what is only a nuisance.
    async fn assert_open_to_all(&self) {
        let found: Vec<String> = self.axe().await.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{}:\n{}", self.url().await, found.join("\n"));
    }

    /// The page, its style and its script are small.
    async fn assert_light(&self) {
        let size = "return performance.getEntriesByType('navigation')[0].decodedBodySize";
        let page = self.script(size).await.as_u64().expect("bytes");
        let page = usize::try_from(page).expect("a page fits into memory");
        let all = page + self.shared_bytes;
        assert!(page > 100 && all < FIRST_VIEW_BYTES_MAX, "{} has {page} bytes", self.url().await);
    }
}
