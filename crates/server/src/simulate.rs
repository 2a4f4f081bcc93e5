//! `tern simulate`: travellers who play against a service that runs, through what it offers to
//! everybody. Never looks into its database.

mod client;
mod receiver;
mod score;
mod setup;
mod travellers;
mod view;

use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use app::Rt;
use domain::limits;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use self::client::Error;
use self::receiver::Receiver;
use self::score::Shared;
use self::setup::House;
pub(crate) use self::setup::NAME;
use self::travellers::{Act, Troupe};
pub(crate) use self::view::View;
use crate::output;

/// The same story every time, for the same eSIMs.
const SEED: u64 = 20_260_504;
/// How often records are sent, so that many go together.
const TURN: Duration = Duration::from_millis(100);
/// The same for travellers nobody watches: their requests are not what the log is read for.
const QUIET_TURN: Duration = Duration::from_secs(10);
/// Bundles that are bought again in a turn, and in a minute, at most.
const BUYS_PER_TURN: usize = 5;
const BUYS_PER_MINUTE: usize = 600;
const MINUTE: Duration = Duration::from_mins(1);
/// How long to wait for a service that does not answer before asking again.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the last callbacks may take, and the farewell.
const LAST_CALLBACKS: Duration = Duration::from_millis(500);
const FAREWELL: Duration = Duration::from_secs(3);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the service is.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: String,
    /// Operator key of the service; better in the environment, where nobody sees it.
    #[arg(long, env = "TERN_OPERATOR_KEY", value_name = "KEY", hide_env_values = true)]
    operator_key: Option<String>,
    /// How many eSIMs travel.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    esims: u16,
    /// Records a second, such as 5, 0.5 or 2000.
    #[arg(long, default_value = "5", value_parser = rate)]
    rate: u64,
    /// How long; 0 is until Ctrl-C.
    #[arg(long, default_value_t = 0)]
    seconds: u64,
}

/// How travellers play.
pub(crate) struct Options {
    url: String,
    operator_key: String,
    esims: usize,
    /// Records in a thousand seconds.
    rate: u64,
    /// How long they play, if that has an end.
    time: Option<Duration>,
    turn: Duration,
    /// Begins the references of their eSIMs, by which they are found again.
    name: &'static str,
    is_listening: bool,
}

impl Options {
    /// A few, for a demo: they are there, and nobody needs to look.
    pub(crate) fn of_demo(url: &str, operator_key: &str) -> Self {
        Self {
            url: url.to_owned(),
            operator_key: operator_key.to_owned(),
            esims: 5,
            rate: 500,
            time: None,
            turn: QUIET_TURN,
            name: "Demo traveller",
            is_listening: false,
        }
    }
}

/// Plays for people and programs, until the time is over or Ctrl-C.
pub(crate) async fn command(args: Args, as_json: bool) -> Result<(), String> {
    let missing = "an operator key is needed\n  next: --operator-key KEY or TERN_OPERATOR_KEY; \
                   `tern demo` prints its own";
    let options = Options {
        url: args.url,
        operator_key: args.operator_key.ok_or(missing)?,
        esims: usize::from(args.esims),
        rate: args.rate,
        time: Some(args.seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs),
        turn: TURN,
        name: "Traveller",
        is_listening: true,
    };
    let unheard = |error: std::io::Error| format!("signals cannot be heard: {error}");
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let until = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let view = if as_json { View::Nothing } else { View::of_stdout() };
    let (score, time) = run(&options, view, until).await?;
    if as_json {
        output::json(&score.lock().json(time));
    } else {
        output::line("");
        view::totals(&score.lock(), time);
    }
    Ok(())
}

/// Plays until the time is over or that happens; the score, and how long it took.
pub(crate) async fn run(
    options: &Options,
    view: View,
    until: impl Future<Output = ()>,
) -> Result<(Shared, Duration), String> {
    let mut until = std::pin::pin!(until);
    let score = Shared::default();
    let set_up = async {
        let house = House::open(options).await?;
        let wares = house.wares(options).await?;
        let all = house.travellers(options, &wares, view).await?;
        let run = format!("{:x}", Rt::real().now().ms());
        Ok::<_, String>((house, Troupe::new(all, wares, SEED, run)))
    };
    let (house, mut troupe) = tokio::select! {
        ready = set_up => ready?,
        () = &mut until => return Ok((score, Duration::ZERO)),
    };
    // From here on time counts.
    let clock = Rt::real();
    let receiver = listen(options, &house, (&score, &clock), view).await;
    score.lock().esims = troupe.all.len();
    score.lock().is_listening = receiver.is_some();
    let stop = watch::Sender::new(false);
    let play = Play { options, house: &house, score: &score, clock: &clock, stop };
    let ended = play.until(&mut troupe, view, until).await;
    let time = clock.monotonic();
    let farewell = async {
        if receiver.is_some() {
            clock.sleep(LAST_CALLBACKS).await;
            // Nobody listens there any more.
            drop(house.call_back("").await);
        }
        house.close().await;
    };
    let _late = tokio::time::timeout(FAREWELL, farewell).await;
    ended.map(|()| (score, time))
}

/// Listens for callbacks, if that is wanted and the service agrees.
async fn listen(
    options: &Options,
    house: &House,
    (score, clock): (&Shared, &Rt),
    view: View,
) -> Option<Receiver> {
    if !options.is_listening {
        return None;
    }
    let why = match Receiver::start(score.clone(), clock.clone()).await {
        Ok(receiver) => match house.call_back(&receiver.url).await {
            Ok(()) => return Some(receiver),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    view.say(&format!("Going on without callbacks: {why}"));
    None
}

/// What is needed to go on.
struct Play<'p> {
    options: &'p Options,
    house: &'p House,
    score: &'p Shared,
    clock: &'p Rt,
    stop: watch::Sender<bool>,
}

impl Play<'_> {
    /// Plays and shows it, until the time is over or that happens. What is on its way arrives.
    async fn until(
        &self,
        troupe: &mut Troupe,
        view: View,
        until: impl Future<Output = ()>,
    ) -> Result<(), String> {
        let mut playing = std::pin::pin!(self.on(troupe));
        let over = async {
            match self.options.time {
                Some(time) => self.clock.sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = &mut playing => return ended,
            () = view.show(self.score, &self.options.url, self.clock) => {}
            () = over => {}
            () = until => {}
        }
        self.stop.send_replace(true);
        tokio::time::timeout(FAREWELL, playing).await.unwrap_or(Ok(()))
    }

    /// Goes on until it is told to stop, or the service refuses for good.
    async fn on(&self, troupe: &mut Troupe) -> Result<(), String> {
        let (mut done, mut bought) = (0, VecDeque::new());
        loop {
            let elapsed = u64::try_from(self.clock.monotonic().as_millis()).unwrap_or(u64::MAX);
            let due = due(self.options.rate, elapsed).saturating_sub(done);
            let most = due.min(limits::RECORDS_MAX as u64);
            // What a slow service was too slow for is not made up for.
            done += due;
            let now = self.clock.now();
            let acts: Vec<_> = (0..most).map_while(|_| troupe.act(now)).collect();
            self.send(&acts).await?;
            self.buy(troupe, &mut bought).await;
            if self.rested(self.options.turn).await {
                return Ok(());
            }
        }
    }

    /// Waits; whether it was told to stop.
    async fn rested(&self, time: Duration) -> bool {
        let mut stopped = self.stop.subscribe();
        tokio::select! {
            () = self.clock.sleep(time) => false,
            _ = stopped.wait_for(|stopped| *stopped) => true,
        }
    }

    /// Sends records, again and again while nobody answers: they count once.
    async fn send(&self, acts: &[Act]) -> Result<(), String> {
        if acts.is_empty() {
            return Ok(());
        }
        self.score.lock().sending(acts, self.clock.monotonic());
        let batch: Value = acts.iter().map(|act| act.event.clone()).collect();
        loop {
            match self.house.operator.post("/operator/v1/usage", &batch).await {
                Ok(answer) => {
                    let mut score = self.score.lock();
                    let results = answer["results"].as_array().into_iter().flatten();
                    for (act, result) in acts.iter().zip(results) {
                        let word = |name: &str| result[name].as_str().unwrap_or_default();
                        score.judged(act, word("verdict"), word("why"));
                    }
                    return Ok(());
                }
                Err(Error::Away(why)) => {
                    self.score.lock().happened(&format!("nobody answers, asking again: {why}"));
                    if self.rested(AGAIN).await {
                        return Ok(());
                    }
                }
                Err(error) => {
                    return Err(format!("{error}\n  next: is the operator key still good?"));
                }
            }
        }
    }

    /// Buys another bundle for those who have nothing left, a few at a time.
    async fn buy(&self, troupe: &mut Troupe, bought: &mut VecDeque<Duration>) {
        let now = self.clock.monotonic();
        while bought.front().is_some_and(|at| *at + MINUTE < now) {
            bought.pop_front();
        }
        let room = BUYS_PER_TURN.min(BUYS_PER_MINUTE.saturating_sub(bought.len()));
        let wanting: Vec<_> = troupe.empty_handed().take(room).collect();
        for place in wanting {
            bought.push_back(now);
            let one = &troupe.all[place];
            let (short, name) = (one.short(), troupe.wares[one.ware].name.clone());
            match self.house.buy(&name, &one.iccid).await {
                Ok(()) => {
                    troupe.bought(place);
                    let mut score = self.score.lock();
                    score.bought += 1;
                    score.happened(&format!("{short} got another bundle, {name}"));
                }
                Err(error) => {
                    self.score.lock().happened(&format!("no bundle for {short}: {error}"));
                    return;
                }
            }
        }
    }
}

/// Records that are due after so many milliseconds.
fn due(rate: u64, elapsed_ms: u64) -> u64 {
    let due = u128::from(rate) * u128::from(elapsed_ms) / 1_000_000;
    u64::try_from(due).unwrap_or(u64::MAX)
}

/// Records in a thousand seconds, from records in one.
fn rate(text: &str) -> Result<u64, String> {
    let wrong = || "must be a number from 0.001 to 100000".to_owned();
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() > 6 || part.len() > 3 || !is_number(whole) || !is_number(part) {
        return Err(wrong());
    }
    let rate: u64 = format!("{whole}{part:0<3}").parse().map_err(|_| wrong())?;
    if (1..=100_000_000).contains(&rate) { Ok(rate) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_may_be_slow_or_fast() {
        let wanted = [("5", 5_000), ("0.5", 500), ("2000", 2_000_000), ("0.001", 1), (".25", 250)];
        for (text, wanted) in wanted {
            assert_eq!(rate(text), Ok(wanted), "{text}");
        }
        for text in ["", "0", "-1", "1e3", "fast", "0.0001", "1.2.3", "1000000"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn records_are_due_in_time() {
        let after = |seconds: u64| due(500, seconds * 1_000);
        assert_eq!([0, 1, 2, 3, 60].map(after), [0, 0, 1, 1, 30]);
        assert_eq!(due(100_000_000, 100), 10_000);
    }
}
