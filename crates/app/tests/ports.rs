//! What a network and a message centre outside hear of the eSIMs of a live organisation, also when
//! they are away for a while. The far sides here note what they are told.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::catalogue::Step;
use app::esims::change::{Change as Wanted, Error as ChangeError, Policy};
use app::esims::{apply, change, revoke, sms};
use app::idempotency::Request;
use app::inventory::Refund;
use app::orders::{self, Command, Intent, Line, Processing};
use app::organisations::Change;
use app::usage::{NewRecord, Told};
use app::vault::Vault;
use app::{Actor, Answer, Answers, App, Caller, Database, Options, Ports, Rt, Store, topup};
use domain::event::{Event, Forms};
use domain::order::Target;
use domain::ports::callbacks::{self, Callback, Receivers};
use domain::ports::network::{self, Away, Level, Network};
use domain::ports::payments::{self, Payments};
use domain::ports::sms::{self as sms_port, Sms};
use domain::{Iccid, Mode, demo};

const BUNDLE: &str = "esim_1GB_7D_FR_V2";

/// A network and a message centre in one. What they are told; and how they answer, until it is used
/// up, before all goes well.
#[derive(Default)]
struct Far {
    told: Mutex<Vec<String>>,
    refuses: Mutex<VecDeque<sms_port::Outcome>>,
}

impl Far {
    fn hears(&self, what: String) -> sms_port::Outcome {
        let next = self.refuses.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let outcome = next.unwrap_or(sms_port::Outcome::Sent);
        if outcome == sms_port::Outcome::Sent {
            self.told.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        }
        outcome
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refuse(&self, outcome: sms_port::Outcome) {
        self.refuses.lock().unwrap_or_else(PoisonError::into_inner).push_back(outcome);
    }

    fn answers(&self, what: String) -> Result<(), Away> {
        match self.hears(what) {
            sms_port::Outcome::Sent => Ok(()),
            sms_port::Outcome::Failed => Err(Away("failed".into())),
            sms_port::Outcome::Away(why) => Err(Away(why)),
        }
    }
}

impl Network for Far {
    fn set<'a>(&'a self, iccid: &'a Iccid, level: Level) -> network::Answer<'a> {
        Box::pin(async move { self.answers(format!("{iccid} {}", level.name())) })
    }

    fn cancel_location<'a>(&'a self, iccid: &'a Iccid) -> network::Answer<'a> {
        Box::pin(async move { self.answers(format!("{iccid} cancel location")) })
    }
}

impl Sms for Far {
    fn send<'a>(&'a self, message: &'a sms_port::Message) -> sms_port::Answer<'a> {
        let what = format!("{} {} {}", message.to.as_str(), message.sender, message.body);
        Box::pin(async move { self.hears(what) })
    }
}

/// Nobody pays, and answers are what they are about.
struct Plain;

impl Payments for Plain {
    fn charge<'a>(&'a self, _: &'a payments::Charge) -> payments::Answer<'a> {
        Box::pin(async { payments::Outcome::Declined })
    }
}

impl Forms for Plain {
    fn full(&self, event: &Event) -> String {
        format!("{event:?}")
    }

    fn short(&self, _: &Event) -> Option<String> {
        None
    }

    fn without_person(&self, _: &str) -> Option<String> {
        None
    }
}

impl Receivers for Plain {
    fn send<'a>(&'a self, _: &'a Callback) -> callbacks::Answer<'a> {
        Box::pin(async { callbacks::Reply::Failed("nobody is there".to_owned()) })
    }
}

fn plain(what: &impl std::fmt::Debug) -> Answer {
    Answer { status: 200, code: String::new(), body: format!("{what:?}").into_bytes() }
}

impl Answers for Plain {
    fn topup(&self, _: &str, outcome: &topup::Outcome) -> Answer {
        plain(outcome)
    }
    fn order(&self, _: &str, outcome: &orders::Outcome) -> Answer {
        plain(outcome)
    }
    fn refund(&self, _: &str, refund: Refund) -> Answer {
        plain(&refund)
    }
    fn apply(&self, _: &str, outcome: &apply::Outcome) -> Answer {
        plain(outcome)
    }
    fn revoke(&self, _: &str, outcome: revoke::Outcome) -> Answer {
        plain(&outcome)
    }
    fn change(&self, _: &str, outcome: change::Outcome) -> Answer {
        plain(&outcome)
    }
    fn sms(&self, _: &str, outcome: sms::Outcome) -> Answer {
        plain(&outcome)
    }
}

/// A live organisation with an eSIM that has a number and a bundle.
struct World {
    app: App,
    caller: Caller,
    iccid: Iccid,
    far: Arc<Far>,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new(far: Option<Arc<Far>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let rt = Rt::real();
        let database = Database::file(&folder.path().join("tern.db"));
        store::migrate::up(&database, rt.now()).expect("migrated");
        let vault = Vault::create(&folder.path().join("vault"), &rt).expect("a vault");
        let ports = Ports {
            test_payments: Arc::new(Plain),
            live_payments: None,
            live_network: far.clone().map(|far| far as Arc<dyn Network>),
            live_sms: far.clone().map(|far| far as Arc<dyn Sms>),
            forms: Arc::new(Plain),
            receivers: Arc::new(Plain),
            answers: Arc::new(Plain),
            options: Options::default(),
        };
        let app = App::open(Store::open(&database, &rt), rt, vault, ports).await.expect("it opens");
        let actor = Actor::Service;
        let change = Change { name: Some("Live".into()), ..Change::default() };
        let made = app.add_organisation(actor, Mode::Live, "USD", &change).await;
        let (detail, key) = made.expect("an organisation");
        app.import_catalogue(actor, demo::catalogue(), Step::Apply).await.expect("a catalogue");
        let stock = (1..).zip(demo::stock(4)).collect();
        app.import_stock(actor, Mode::Live, stock).await.expect("stock");
        app.credit(actor, detail.organisation.id, 10_000, "money").await.expect("money");
        let from = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let caller = app.caller(key.expose(), from).await.expect("the key is good");
        let iccid = Iccid::parse(&demo::stock(1)[0].iccid).expect("an ICCID");
        let far = far.unwrap_or_default();
        let world = Self { app, caller, iccid, far, _folder: folder };
        world.app.rt().task(world.app.clone().do_work());
        world
    }

    async fn buy(&self) {
        let line = Line {
            bundle: BUNDLE.to_owned(),
            quantity: 1,
            iccids: Vec::new(),
            allow_reassign: false,
        };
        let command = Command {
            intent: Intent::Transaction,
            target: Target::Esims,
            lines: vec![line],
            processing: Processing::Now,
            source_ip: String::new(),
        };
        let bought = self.app.buy(&self.caller, command, &request()).await.expect("bought");
        let text = String::from_utf8_lossy(&bought.body).into_owned();
        assert!(text.contains(self.iccid.as_str()), "{text}");
    }

    async fn change(&self, wanted: Wanted) -> Result<Answer, ChangeError> {
        self.app.change_esim(&self.caller, (self.iccid.clone(), wanted), &request()).await
    }

    /// Waits until something holds, for a few seconds at most.
    async fn wait_until<F: Future<Output = bool>>(&self, holds: impl Fn() -> F) {
        for _ in 0..500 {
            if holds().await {
                return;
            }
            self.app.rt().sleep(Duration::from_millis(10)).await;
        }
        panic!("it never came to that");
    }

    /// Waits until so much was heard, and says the last of it without the number of the eSIM.
    async fn heard(&self, count: usize) -> String {
        self.wait_until(|| async { self.far.told().len() >= count }).await;
        let told = self.far.told();
        assert_eq!(told.len(), count, "{told:?}");
        let last = told.last().expect("something").clone();
        last.trim_start_matches(self.iccid.as_str()).trim().to_owned()
    }
}

fn request() -> Request {
    Request { key: None, facts: Vec::new(), form: String::new(), deed: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_network_hears_what_an_esim_may_do() {
    let world = World::new(Some(Arc::default())).await;
    world.buy().await;
    assert_eq!(world.heard(1).await, "full");
    world.change(Wanted::Suspend).await.expect("suspended");
    assert_eq!(world.heard(2).await, "suspended");
    world.change(Wanted::Resume).await.expect("resumed");
    assert_eq!(world.heard(3).await, "full");
    world.change(Wanted::Refresh).await.expect("refreshed");
    assert_eq!(world.heard(4).await, "cancel location");
    // What changes nothing for the network is not told.
    world.change(Wanted::CustomerRef("x".into())).await.expect("noted");
    let used = NewRecord {
        source: "cdr".into(),
        id: "1".into(),
        iccid: world.iccid.clone(),
        at: world.app.rt().now(),
        told: Told::Used { bytes: 2_000_000_000, place: None },
    };
    world.app.take_records(vec![used]).await.expect("taken");
    assert_eq!(world.heard(5).await, "idle", "its only bundle is used up");
    let policy = Policy::Deactivate;
    world.app.police_esim(Actor::Service, &world.iccid, policy, "lost").await.expect("ended");
    assert_eq!(world.heard(6).await, "stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_esim_that_is_given_up_is_stopped() {
    let world = World::new(Some(Arc::default())).await;
    world.buy().await;
    world.heard(1).await;
    world.change(Wanted::Delete).await.expect("deleted");
    assert_eq!(world.heard(2).await, "stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_was_away_is_told_again() {
    let world = World::new(Some(Arc::default())).await;
    world.far.refuse(sms_port::Outcome::Away("unplugged".into()));
    world.buy().await;
    assert_eq!(world.heard(1).await, "full", "after the first delay of the table");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_sent_once_or_told_to_have_failed() {
    let world = World::new(Some(Arc::default())).await;
    world.buy().await;
    world.heard(1).await;
    let send = |text: &str| {
        let message = (None, text.to_owned());
        let (app, caller, iccid) = (&world.app, &world.caller, world.iccid.clone());
        async move { app.send_sms(caller, iccid, message, &request()).await.expect("taken") }
    };
    send("hello").await;
    assert!(world.heard(2).await.ends_with(" eSIM hello"));
    world.far.refuse(sms_port::Outcome::Failed);
    send("lost").await;
    let failed = || async {
        let events = world.app.events(&world.caller, 0, 100).await.expect("events");
        events.into_iter().filter(|event| event.kind == "SMSFailed").count() == 1
    };
    world.wait_until(failed).await;
    send("again").await;
    assert!(world.heard(3).await.ends_with(" eSIM again"));
    // Nothing of them is kept.
    let forgotten = || async {
        let kept = world.app.messages(&world.caller, &world.iccid).await.expect("read");
        kept.is_some_and(|kept| kept.is_empty())
    };
    world.wait_until(forgotten).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_network_and_a_centre_a_live_organisation_hears_so() {
    let world = World::new(None).await;
    world.buy().await;
    let refreshed = world.change(Wanted::Refresh).await;
    assert!(matches!(refreshed, Err(ChangeError::NetworkAway)), "{refreshed:?}");
    let (caller, iccid) = (&world.caller, world.iccid.clone());
    let sent = world.app.send_sms(caller, iccid, (None, "x".into()), &request()).await;
    assert!(matches!(sent, Err(sms::Error::Unavailable)), "{sent:?}");
    world.change(Wanted::Suspend).await.expect("suspended all the same");
    let esim = world.app.esim(&world.caller, &world.iccid).await.expect("read").expect("its own");
    assert_eq!((esim.state(), esim.last_action.as_str()), ("suspended", "Bundle Applied"));
}
