//! What an operator's monitoring reads, in Prometheus' text form.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use app::App;
use app::callbacks::Sending;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};

/// The counters of one node.
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    waiting: IntGauge,
    stock: IntGaugeVec,
    callbacks: IntCounterVec,
    callback_delay: Histogram,
    /// Each with the counter of the store it follows.
    of_store: Vec<(IntCounter, Read)>,
}

type Read = fn(&app::Stats) -> &AtomicU64;

const FROM_STORE: [(&str, &str, Read); 6] = [
    ("tern_store_groups_total", "Groups of writes committed.", |s| &s.groups),
    ("tern_store_writes_total", "Writes committed in groups.", |s| &s.writes),
    ("tern_store_reads_total", "Reads answered.", |s| &s.reads),
    ("tern_store_groups_split_total", "Groups run again one by one.", |s| &s.groups_split),
    ("tern_store_victims_total", "Writes run again after a deadlock.", |s| &s.victims_rerun),
    ("tern_store_commits_doubted_total", "Commits whose answer was lost.", |s| &s.commits_doubted),
];

impl Metrics {
    pub(crate) fn new() -> Self {
        let registry = Registry::new();
        let requests = IntCounterVec::new(
            Opts::new("tern_http_requests_total", "Requests answered."),
            &["version", "route", "method", "status"],
        )
        .expect("a well-formed metric");
        let seconds = HistogramVec::new(
            HistogramOpts::new("tern_http_request_seconds", "Time to answer a request.").buckets(
                vec![0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0],
            ),
            &["version", "route"],
        )
        .expect("a well-formed metric");
        let waiting = IntGauge::new("tern_store_writes_waiting", "Writes that wait now.")
            .expect("a well-formed metric");
        let stock = IntGaugeVec::new(
            Opts::new("tern_stock_free", "Free eSIM profiles when they were last counted."),
            &["mode", "profile"],
        )
        .expect("a well-formed metric");
        let callbacks = IntCounterVec::new(
            Opts::new("tern_callbacks_total", "Attempts to send callbacks, and those given up."),
            &["outcome"],
        )
        .expect("a well-formed metric");
        let callback_delay = Histogram::with_opts(
            HistogramOpts::new(
                "tern_callback_delay_seconds",
                "Time from an event to the receiver having it.",
            )
            .buckets(vec![
                0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0, 3600.0,
            ]),
        )
        .expect("a well-formed metric");
        let of_store: Vec<_> = FROM_STORE
            .into_iter()
            .map(|(name, help, read)| {
                (IntCounter::new(name, help).expect("a well-formed metric"), read)
            })
            .collect();
        let taken = "every metric has its own name";
        registry.register(Box::new(requests.clone())).expect(taken);
        registry.register(Box::new(seconds.clone())).expect(taken);
        registry.register(Box::new(waiting.clone())).expect(taken);
        registry.register(Box::new(stock.clone())).expect(taken);
        registry.register(Box::new(callbacks.clone())).expect(taken);
        registry.register(Box::new(callback_delay.clone())).expect(taken);
        for (counter, _) in &of_store {
            registry.register(Box::new(counter.clone())).expect(taken);
        }
        Self { registry, requests, seconds, waiting, stock, callbacks, callback_delay, of_store }
    }

    /// Counts a request; the labels are version, route, method and status.
    pub(crate) fn request(&self, labels: [&str; 4], time: Duration) {
        self.requests.with_label_values(&labels).inc();
        self.seconds.with_label_values(&labels[..2]).observe(time.as_secs_f64());
    }

    /// What was sent since the last look.
    fn follow(&self, sending: &Sending) {
        for (outcome, counter) in [
            ("delivered", &sending.delivered),
            ("failed", &sending.failed),
            ("dead", &sending.dead),
        ] {
            let shown = self.callbacks.with_label_values(&[outcome]);
            shown.inc_by(counter.load(Ordering::Relaxed).saturating_sub(shown.get()));
        }
        for milliseconds in sending.take_delays() {
            let delay = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
            self.callback_delay.observe(delay.as_secs_f64());
        }
    }

    pub(crate) fn page(&self, app: &App) -> String {
        let store = app.store();
        for (mode, profile, free) in app.stock_levels() {
            self.stock.with_label_values(&[mode.name(), &profile]).set(free);
        }
        self.follow(app.sending());
        self.waiting.set(i64::try_from(store.waiting()).unwrap_or(i64::MAX));
        for (counter, read) in &self.of_store {
            let now = read(store.stats()).load(Ordering::Relaxed);
            counter.inc_by(now.saturating_sub(counter.get()));
        }
        let mut page = Vec::new();
        // Writing to memory cannot fail; a page without text would be seen by monitoring at once.
        let _written = TextEncoder::new().encode(&self.registry.gather(), &mut page);
        String::from_utf8(page).unwrap_or_default()
    }
}
