//! `tern demo`: everything in one process, with something to try.

use api::Settings;
use app::demo::Demo;
use domain::Iccid;
use serde_json::json;

use crate::config::{Config, LogFormat, LogLevel};
use crate::output::Ink;
use crate::serve::Service;
use crate::simulate::{self, View};
use crate::{logs, opened, output};

/// Runs the demo on the embedded database of the data folder, whatever else is set.
pub(crate) async fn run(config: &Config, as_json: bool) -> Result<(), String> {
    // For a person the requests scroll by under the banner; a program reads stdout only.
    let log_level = if as_json { LogLevel::Warn } else { LogLevel::Info };
    logs::start(LogFormat::Human, log_level);
    let config = Config {
        log_format: LogFormat::Human,
        log_level,
        database: String::new(),
        vault: String::new(),
        tls_certificate: String::new(),
        tls_key: String::new(),
        metrics_listen: String::new(),
        public_url: String::new(),
        callbacks_inside: true,
        ..config.clone()
    };
    let app = opened::open(&config).await?;
    if !as_json {
        output::note("Opening the demo; the first start makes its catalogue and stock …");
    }
    let demo = app.demo().await.map_err(|error| error.to_string())?;
    let settings = Settings {
        trusted_proxies: config.trusted_proxies()?,
        open_metrics: true,
        ..Settings::default()
    };
    let rt = app.rt().clone();
    let watcher = if as_json {
        ""
    } else {
        app.demo_travellers(simulate::NAME).await.map_err(|error| error.to_string())?
    };
    let service = Service::build(app, settings, &config).await?;
    let address = service.address();
    if as_json {
        output::json(&facts(&demo, &address));
    } else {
        greet((&demo, watcher), &address, &config.data.display().to_string());
        let options = simulate::Options::of_demo(&address, demo.operator_key.expose());
        rt.task(travel(options));
    }
    service.until_signal().await
}

/// Somebody travels, so that there is something to see. The demo goes on if nobody can.
async fn travel(options: simulate::Options) {
    let for_ever = std::future::pending();
    if let Err(why) = simulate::run(&options, View::Nothing, for_ever).await {
        tracing::warn!(why, "the simulated travellers stay at home");
    }
}

/// What a program needs to go on. What is empty belongs to parts that do not exist yet.
fn facts(demo: &Demo, address: &str) -> serde_json::Value {
    json!({
        "api": address,
        "portal": format!("{address}/portal"),
        "console": "",
        "organisation": demo.organisation.to_string(),
        "apiKey": demo.api_key.expose(),
        "operatorKey": demo.operator_key.expose(),
        "portalEmail": demo.portal_email,
        "portalPassword": demo.portal_password.expose(),
        "consoleEmail": demo.console_email,
        "consolePassword": demo.console_password.expose(),
        "bundles": demo.bundles,
        "iccids": demo.iccids.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn greet((demo, watcher): (&Demo, &str), address: &str, data: &str) {
    let ink = Ink::of_stdout();
    let (key, operator) = (demo.api_key.expose(), demo.operator_key.expose());
    let title = |text: &str| output::line(&format!("\n  {}", ink.bold(text)));
    let fact =
        |name: &str, value: &str| output::line(&format!("  {}  {value}", ink.quiet(&padded(name))));
    let code = |text: &str| output::line(&format!("    {text}"));
    output::line(&format!("\n  {}  demo", ink.bold("Tern")));
    output::line(&ink.quiet("  A sandbox: nothing in it is real, nothing leaves this machine."));
    title("Where");
    fact("API", &format!("{address}/v2.5   (also /v2.0 to /v2.4)"));
    fact("Portal", &format!("{address}/portal"));
    fact("", &format!("{}   {}", demo.portal_email, demo.portal_password.expose()));
    fact("Reference", &format!("{address}/docs"));
    fact("Health", &format!("{address}/readyz   {address}/metrics"));
    fact("Data", data);
    fact(
        "Travellers",
        "five simulated ones live in a second organisation; to watch them live in the",
    );
    fact("", &format!("portal, sign in as {watcher} with the same password"));
    title("Keys");
    fact("API key", key);
    fact("Operator key", operator);
    title("Try it");
    code(&ink.quiet("# your organisation, as the newest version shows it"));
    code(&format!("curl -H 'X-API-Key: {key}' {address}/v2.5/organisation"));
    code("");
    code(&ink.quiet("# what is for sale in France"));
    code(&format!("curl -H 'X-API-Key: {key}' \\"));
    code(&format!("     '{address}/v2.5/catalogue?countries=FR&perPage=5'"));
    code("");
    let iccid = demo.iccids.first().map_or("", Iccid::as_str);
    code(&ink.quiet("# the QR code of an eSIM, and a phone that uses 600 MB on it"));
    code(&format!("curl -H 'X-API-Key: {key}' -o code.png \\"));
    code(&format!("     {address}/v2.5/esims/{iccid}/qr"));
    code(&format!("curl -H 'X-API-Key: {key}' -d '{{\"bytes\":600000000}}' \\"));
    code(&format!("     {address}/sandbox/v1/esims/{iccid}/use"));
    code(&format!("curl -H 'X-API-Key: {key}' \\"));
    code(&format!("     {address}/v2.5/esims/{iccid}/bundles"));
    code("");
    code(&ink.quiet("# buy one onto a new eSIM"));
    code(&format!("curl -H 'X-API-Key: {key}' -H 'Idempotency-Key: my-first' \\"));
    code(r#"     -d '{"type":"transaction","assign":true,"order":[{"type":"bundle","#);
    code(&format!(
        r#"          "item":"{}","quantity":1}}]}}' {address}/v2.5/orders"#,
        demo.bundles.first().map_or("", String::as_str)
    ));
    code("");
    code(&ink.quiet("# what it holds, and what happened"));
    code(&format!("curl -H 'X-API-Key: {key}' {address}/v2.5/inventory"));
    code(&format!("curl -H 'X-API-Key: {key}' {address}/events/v1"));
    code("");
    code(&ink.quiet("# a sandbox organisation has a clock of its own: a day passes at once"));
    code(&format!("curl -H 'X-API-Key: {key}' -d '{{\"seconds\":86400}}' \\"));
    code(&format!("     {address}/sandbox/v1/clock/advance"));
    code("");
    code(
        &ink.quiet("# have usage sent to you, signed; `nc -l 9000` is receiver enough for a look"),
    );
    code(&format!("curl -X PATCH -H 'Authorization: Bearer {operator}' \\"));
    code(r#"     -d '{"callbackUrl":"http://127.0.0.1:9000/","callbackVersion":"V3"}' \"#);
    code(&format!("     {address}/operator/v1/organisations/{}", demo.organisation));
    code(&format!("curl -X POST -H 'X-API-Key: {key}' \\"));
    code(&format!("     {address}/sandbox/v1/callbacks/test"));
    code("");
    code(&ink.quiet("# as the wholesaler: make another reseller"));
    code(&format!("curl -H 'Authorization: Bearer {operator}' \\"));
    code(r#"     -d '{"name":"Second Reseller","currency":"EUR","sandbox":true}' \"#);
    code(&format!("     {address}/operator/v1/organisations"));
    output::line(&ink.quiet("\n  Ctrl-C stops it; the data stays. Requests are logged below.\n"));
}

/// A name as wide as all the others.
fn padded(name: &str) -> String {
    format!("{name:<13}")
}
