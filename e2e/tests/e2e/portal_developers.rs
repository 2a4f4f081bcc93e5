//! The developers' part of the portal in a real browser: callbacks that come and are signed, and
//! keys that are changed without a break.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use store::Rt;
use tokio::task::JoinHandle;

use crate::callbacks_forms::is_signed_by;
use crate::harness::{Call, Home, Reaction, Receiver, Request, World, http, wait};
use crate::money::advance;
use crate::portal::PASSWORD;
use crate::portal_window::Window;
use crate::shop::{self, PLENTY, reseller};

const CALLBACKS: &str = "/portal/developers/callbacks";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callbacks_are_set_up_tried_and_sent_again() {
    let world = World::start(Home::sqlite()).await;
    let org = world.add_sandbox("Portal People").await;
    let receiver = Receiver::start().await;
    let window = Window::of_role(&world, &org, "Developer").await;
    window.visit(CALLBACKS).await;
    assert_eq!(window.count("form[action$='/callbacks/test']").await, 0, "nowhere to send to");
    let settings = "form[action='/portal/developers/callbacks']";
    window.fill("#f-url", &receiver.url()).await;
    window.click(&format!("{settings} [name=version][value=V3]")).await;
    window.click(&format!("{settings} [name=kind-FirstUse]")).await;
    window.submit(settings).await;
    assert_eq!(window.said().await, "Saved.");
    assert_eq!(window.value("#f-url").await, receiver.url());
    let secret = shown(&world, &window, "Show the secret").await;

    window.visit(CALLBACKS).await;
    window.click_text("Send a test event").await;
    let call = receiver.wait_for(1).await.remove(0);
    is_signed_by(&call, &org.key);
    is_signed_after_the_standard(&call, &secret);
    // The page follows.
    window.wait_for_fact("State", "Delivered").await;
    assert_eq!(window.fact("webhook-id").await, call.header("webhook-id").expect("an id"));
    window.click_text("Send again").await;
    let again = receiver.wait_for(2).await.remove(1);
    assert_eq!(again.header("webhook-id"), call.header("webhook-id"));
    assert_eq!(again.body, call.body);
    is_signed_by(&again, &org.key);
    window.wait_for_fact("State", "Delivered").await;

    receiver.always(Reaction::Says(503, "out of order".to_owned()));
    window.visit(CALLBACKS).await;
    window.click_text("Send a test event").await;
    receiver.wait_for(3).await;
    window.wait_for_text("out of order").await;
    assert_eq!(window.fact("State").await, "Waiting");
    let tried = window.texts("section[aria-label=Attempts] tbody .badge").await;
    assert_eq!(tried, ["503"]);
    window.fact("Next attempt").await;
    // Its second attempt is due; by then the receiver is mended.
    receiver.always(Reaction::Status(200));
    advance(&world, &org, 60).await;
    window.wait_for_fact("State", "Delivered").await;
    let tried = window.texts("section[aria-label=Attempts] tbody .badge").await;
    assert_eq!(tried, ["200", "503"]);
    window.assert_quiet().await;
}

/// What is shown after the password was given once more; a wrong one shows nothing.
async fn shown(world: &World, window: &Window, label: &str) -> String {
    let ask = ".confirm[open] form";
    window.click_text(label).await;
    window.fill(&format!("{ask} [name=password]"), "not the password").await;
    window.submit(ask).await;
    assert_eq!(window.said().await, "The password is wrong. Nothing was changed.");
    window.click_text(label).await;
    window.fill(&format!("{ask} [name=password]"), PASSWORD).await;
    window.submit(ask).await;
    window.wait_for_text("It is not kept in your browser.").await;
    let secret = window.text("section.part .copyable code").await;
    world.is_secret(&secret);
    secret
}

/// What the Standard Webhooks ask for, computed here.
#[track_caller]
fn is_signed_after_the_standard(call: &Call, secret: &str) {
    let header = |name| call.header(name).unwrap_or_else(|| panic!("no {name}"));
    let key = secret.strip_prefix("whsec_").expect("a webhook secret");
    let key = STANDARD.decode(key).expect("base 64");
    let start = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp"));
    let signed = [start.as_bytes(), &call.body].concat();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &signed);
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(tag)));
}

/// Somebody who calls all the time with one key.
struct Caller {
    stop: Arc<AtomicBool>,
    /// When each answer came, and its status.
    answers: Arc<Mutex<Vec<(i64, u16)>>>,
    task: JoinHandle<()>,
}

impl Caller {
    fn start(address: SocketAddr, key: &str) -> Self {
        let (stop, answers) = (Arc::<AtomicBool>::default(), Arc::default());
        let (ends, notes) = (stop.clone(), Arc::<Mutex<Vec<_>>>::clone(&answers));
        let request = Request::get("/v2.5/organisation").key(key).bytes();
        let task = Rt::real().task(async move {
            let rt = Rt::real();
            while !ends.load(Ordering::SeqCst) {
                let answer = http::exchange(address, &request, false).await.expect("an answer");
                let note = (rt.now().ms(), answer.status);
                notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
                rt.sleep(Duration::from_millis(30)).await;
            }
        });
        Self { stop, answers, task }
    }

    fn answers(&self) -> Vec<(i64, u16)> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn end(self) -> Vec<(i64, u16)> {
        self.stop.store(true, Ordering::SeqCst);
        let answers = self.answers.clone();
        self.task.await.expect("a caller ends");
        let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_follows_another_without_a_break() {
    let world = shop::open(Home::sqlite(), 5).await;
    let org = reseller(&world, PLENTY).await;
    let window = Window::of_role(&world, &org, "Developer").await;
    let old_caller = Caller::start(world.node.address, &org.key);
    window.click_text("Developers").await;
    assert_eq!(shown(&world, &window, "Show the primary key").await, org.key);
    window.visit("/portal/developers").await;
    let first = window.script("return document.querySelector('a.row').pathname").await;
    let first = first.as_str().expect("the page of the first key").to_owned();

    window.fill("[name=label]", "new servers").await;
    window.submit("form[action='/portal/developers/keys']").await;
    window.wait_for_text("It is shown now and never again").await;
    let new = window.text("section.part .copyable code").await;
    world.is_secret(&new);
    let new_caller = Caller::start(world.node.address, &new);
    window.click_text("Open this key").await;
    change(&window, "Make primary").await;
    assert_eq!(window.said().await, "This key is primary now and signs callbacks.");
    window.visit("/portal/developers").await;
    assert_eq!(shown(&world, &window, "Show the primary key").await, new);
    let own = world.get("/v2.5/organisation", &new).await.json_of(200);
    assert!(own.to_string().contains(&new), "the interface names the same");

    assert!(old_caller.answers().iter().all(|(_, status)| *status == 200));
    window.visit(&first).await;
    let before = Rt::real().now().ms();
    change(&window, "Revoke").await;
    assert_eq!(window.said().await, "The key is revoked.");
    let after = Rt::real().now().ms();
    let refused =
        async || old_caller.answers().last().is_some_and(|last| last.1 == 403).then_some(());
    wait::until("the old key is refused", Duration::from_secs(30), refused).await;
    Rt::real().sleep(Duration::from_millis(1_200)).await;
    for (at, status) in old_caller.end().await {
        assert!(at >= before || status == 200, "{status} before it was revoked");
        assert!(at <= after + 1_000 || status == 403, "{status} {} ms after", at - after);
    }
    let answers = new_caller.end().await;
    assert!(answers.len() > 20 && answers.iter().all(|(_, status)| *status == 200), "{answers:?}");
    window.assert_quiet().await;
}

/// Chooses something from the menu of a key, and says yes.
async fn change(window: &Window, what: &str) {
    window.click("details.menu > summary").await;
    window.click_text(what).await;
    window.click(".menu .confirm[open] button").await;
}
