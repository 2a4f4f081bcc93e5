//! `tern serve`: the service, until it is told to stop.

use std::path::Path;
use std::sync::Arc;

use api::{Front, Settings, versions};
use app::house::FirstStart;
use app::{App, Rt};
use domain::limits;
use portal::{docs, receipts, reseller, share};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::config::Config;
use crate::listen::{Door, bind};
use crate::{logs, opened, output, tls};

/// Starts everything and returns when it has ended in good order.
pub(crate) async fn run(config: &Config) -> Result<(), String> {
    logs::start(config.log_format, config.log_level);
    let app = opened::open(config).await?;
    greet_first_operator(&app, config).await?;
    let settings = Settings {
        trusted_proxies: config.trusted_proxies()?,
        open_metrics: false,
        ..Settings::default()
    };
    let service = Service::build(app, settings, config).await?;
    tracing::info!(listen = %service.address(), "ready");
    service.until_signal().await
}

/// A service that is bound but does not accept yet.
pub(crate) struct Service {
    app: App,
    front: Arc<Front>,
    listener: TcpListener,
    address: String,
    metrics: Option<TcpListener>,
    tls: Option<Arc<tls::Files>>,
}

impl Service {
    pub(crate) async fn build(
        app: App,
        settings: Settings,
        config: &Config,
    ) -> Result<Self, String> {
        let log = logs::Requests::start(config.log_format, config.log_level, app.rt());
        let tls = match (config.tls_certificate.as_str(), config.tls_key.as_str()) {
            ("", "") => None,
            ("", _) | (_, "") => {
                return Err("tls_certificate and tls_key are set together, or neither".to_owned());
            }
            (certificate, key) => Some(tls::Files::load(Path::new(certificate), Path::new(key))?),
        };
        let listener = bind(&config.listen).await?;
        let metrics = match config.metrics_listen.as_str() {
            "" => None,
            address => Some(bind(address).await?),
        };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let address = match listener.local_addr() {
            Ok(address) => format!("{scheme}://{address}"),
            Err(_) => format!("{scheme}://?"),
        };
        let public_url = match config.public_url.as_str() {
            "" => address.clone(),
            url => url.to_owned(),
        };
        let settings = Settings { public_url, ..settings };
        let pages = pages(&app, &settings);
        let front = Arc::new(Front::new(app.clone(), settings, pages, log));
        Ok(Self { app, front, listener, address, metrics, tls })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    /// Serves until SIGTERM or SIGINT, then drains. A second signal ends it at once.
    pub(crate) async fn until_signal(self) -> Result<(), String> {
        let unheard = |error: std::io::Error| format!("signals cannot be heard: {error}");
        let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
        let rt = self.app.rt().clone();
        let (stop, stopped) = watch::channel(false);
        let background = self.start_background(&rt);
        let tls = self.tls.as_ref().map(tls::Files::acceptor).transpose()?;
        if let Some(listener) = self.metrics {
            let front = Arc::new(self.front.monitoring());
            let door = Door { listener, tls: None, front, rt: rt.clone() };
            rt.task(door.serve(stopped.clone()));
        }
        let front = self.front.clone();
        let door = Door { listener: self.listener, tls, front, rt: rt.clone() };
        let serving = rt.task(door.serve(stopped));
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("draining");
        self.front.drain();
        self.app.close_soon();
        let drained = async {
            // Whoever asks `/readyz` hears it before connections are refused.
            rt.sleep(limits::FAREWELL).await;
            let _nobody_listens = stop.send(true);
            serving.await
        };
        tokio::select! {
            _ = drained => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        for task in background {
            task.abort();
        }
        let closed = async {
            // What failed last is what somebody will look for.
            let _lost = self.app.write_failures_once().await;
            self.app.store().close().await;
        };
        if tokio::time::timeout(limits::CLOSE, closed).await.is_err() {
            tracing::warn!("the database did not answer in time; leaving without it");
        }
        tracing::info!("stopped");
        Ok(())
    }

    fn start_background(&self, rt: &Rt) -> Vec<tokio::task::JoinHandle<()>> {
        let mut tasks = vec![
            rt.task(self.app.clone().watch_access()),
            rt.task(self.app.clone().do_work()),
            rt.task(self.app.clone().keep_watch()),
            rt.task(self.app.clone().send_callbacks()),
            rt.task(self.app.clone().forget_old()),
            rt.task(self.app.clone().write_failures()),
            rt.task(self.app.clone().watch_stock()),
        ];
        if let Some(files) = &self.tls {
            tasks.push(rt.task(files.clone().watch(rt.clone())));
        }
        tasks
    }
}

/// Pages for people.
fn pages(app: &App, settings: &Settings) -> axum::Router {
    let documents: Vec<_> = api::contract::DOCUMENTS
        .iter()
        .map(|document| docs::Document { name: document.name, json: document.json })
        .collect();
    let changelog: Vec<_> = versions::changelog()
        .into_iter()
        .map(|(version, changes)| docs::Release { version: version.name(), changes })
        .collect();
    let newest = api::Surface::Interface(versions::Version::NEWEST);
    let operations = [newest, api::Surface::Reseller].into_iter().flat_map(api::operations);
    let operations = operations.map(|one| format!("{} {}", one.method, one.path)).collect();
    let portal = reseller::Settings { public_url: settings.public_url.clone(), operations };
    docs::router(&documents, &changelog)
        .merge(receipts::router(app.clone()))
        .merge(share::router(app.clone()))
        .merge(reseller::router(app.clone(), &portal))
}

/// At the first start: an operator key and a console user, written to a file only its owner can
/// read. A log is no place for secrets.
async fn greet_first_operator(app: &App, config: &Config) -> Result<(), String> {
    let path = config.data.join("first-start.txt");
    // Under a name of this node's own until it is certain: another one may be quicker.
    let own = config.data.join(format!("first-start.{}.txt", std::process::id()));
    let keep = |made: &FirstStart| {
        let text = format!(
            "Made at the first start of Tern. Note them and delete this file.\n\n\
             operator key      {}\nconsole e-mail    {}\nconsole password  {}\n",
            made.operator_key.expose(),
            config.console_email,
            made.console_password.expose(),
        );
        output::write_secret(&own, &text)
    };
    let made = app.first_start(&config.console_email, keep).await;
    if !matches!(made, Ok(true)) {
        // Another node was quicker, or nothing was made: what was put away opens nothing.
        let _none = std::fs::remove_file(&own);
        return made.map(drop).map_err(|error| error.to_string());
    }
    let path = if std::fs::rename(&own, &path).is_ok() { path } else { own };
    tracing::warn!(
        file = %path.display(),
        "the first operator key and console password are in this file; read it, then delete it"
    );
    Ok(())
}
