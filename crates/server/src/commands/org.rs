//! `tern org`.

use app::organisations::{Change, Detail};
use app::{Actor, App};
use clap::{Args, Subcommand};
use domain::CallbackUrl;
use domain::{Mode, OrgId, limits};
use serde_json::{Value, json};

use super::org_id;
use crate::config::Config;
use crate::{opened, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make an organisation and print its first API key.
    Add {
        /// Its name.
        name: String,
        /// Its currency, such as USD.
        #[arg(long)]
        currency: String,
        /// A sandbox organisation: own clock, test card, test phones. Fixed for ever.
        #[arg(long)]
        sandbox: bool,
        #[command(flatten)]
        fields: Fields,
    },
    /// List all organisations.
    List,
    /// Show one organisation.
    Show {
        /// Its id.
        id: String,
    },
    /// Change fields of an organisation; what is not named stays.
    Set {
        /// Its id.
        id: String,
        /// Its name.
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        fields: Fields,
    },
}

/// The fields of an organisation that can be set.
#[derive(Args)]
pub(crate) struct Fields {
    #[arg(long)]
    tax_liable: Option<String>,
    #[arg(long)]
    addr1: Option<String>,
    #[arg(long)]
    addr2: Option<String>,
    #[arg(long)]
    city: Option<String>,
    #[arg(long)]
    country: Option<String>,
    #[arg(long)]
    postcode: Option<String>,
    #[arg(long)]
    notes: Option<String>,
    #[arg(long)]
    business_type: Option<String>,
    #[arg(long)]
    website: Option<String>,
    #[arg(long)]
    product_description: Option<String>,
    /// Bundle groups it may buy from; may be repeated.
    #[arg(long = "group")]
    groups: Option<Vec<String>>,
    /// Where callbacks go; empty for nowhere.
    #[arg(long)]
    callback_url: Option<String>,
    /// V2 or V3.
    #[arg(long)]
    callback_version: Option<String>,
    /// every or steps.
    #[arg(long)]
    usage_events: Option<String>,
    /// Percentage of a bundle at which steps come; may be repeated.
    #[arg(long = "usage-step")]
    usage_steps: Option<Vec<i64>>,
    /// Kind of event beside usage that is sent; may be repeated; '' for none.
    #[arg(long = "callback-event")]
    callback_events: Option<Vec<String>>,
    /// Balance that counts as low, in minor units; 0 for the usual one.
    #[arg(long)]
    low_balance: Option<i64>,
    /// SMS sender it may use; may be repeated.
    #[arg(long = "sender")]
    senders: Option<Vec<String>>,
    /// Address or network its keys work from; may be repeated; '' for everywhere.
    #[arg(long = "allow-ip")]
    ip_allow_list: Option<Vec<String>>,
    /// Requests per second and key; 0 for no limit of its own.
    #[arg(long)]
    rate_limit: Option<i64>,
    /// Least top-up, in minor units; 0 for none.
    #[arg(long)]
    topup_minimum: Option<i64>,
    /// Most that top-ups of a day may be, in minor units; 0 for no bound.
    #[arg(long)]
    topup_daily_maximum: Option<i64>,
    /// Balance below which the card is charged by itself, in minor units; 0 for never.
    #[arg(long)]
    auto_topup_threshold: Option<i64>,
    /// By how much.
    #[arg(long)]
    auto_topup_amount: Option<i64>,
    /// List its prices come from; '' for the standard one.
    #[arg(long)]
    price_list: Option<String>,
    /// Days in which it can give bundles back, 0 to 365; 0 for never.
    #[arg(long)]
    refund_days: Option<i64>,
    /// prepaid or consumption.
    #[arg(long)]
    billing: Option<String>,
}

impl Fields {
    fn change(self, name: Option<String>) -> Change {
        Change {
            name,
            tax_liable: self.tax_liable,
            addr1: self.addr1,
            addr2: self.addr2,
            city: self.city,
            country: self.country,
            postcode: self.postcode,
            notes: self.notes,
            business_type: self.business_type,
            website: self.website,
            product_description: self.product_description,
            groups: self.groups.map(without_empty),
            callback_url: self.callback_url,
            callback_version: self.callback_version,
            usage_events: self.usage_events,
            usage_steps: self.usage_steps,
            callback_events: self.callback_events.map(without_empty),
            low_balance: self.low_balance,
            senders: self.senders.map(without_empty),
            ip_allow_list: self.ip_allow_list.map(without_empty),
            rate_limit: self.rate_limit,
            topup_minimum: self.topup_minimum,
            topup_daily_maximum: self.topup_daily_maximum,
            auto_topup_threshold: self.auto_topup_threshold,
            auto_topup_amount: self.auto_topup_amount,
            price_list: self.price_list,
            refund_days: self.refund_days,
            billing: self.billing,
        }
    }
}

/// `--allow-ip ''` empties the list.
fn without_empty(mut texts: Vec<String>) -> Vec<String> {
    texts.retain(|text| !text.is_empty());
    texts
}

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<(), String> {
    let app = match command {
        Command::Add { .. } => opened::open(config).await?,
        _ => opened::open_existing(config).await?,
    };
    let text = |error: app::organisations::Error| error.to_string();
    match command {
        Command::Add { name, currency, sandbox, fields } => {
            let mode = if sandbox { Mode::Sandbox } else { Mode::Live };
            let change = fields.change(Some(name));
            let actor = Actor::CommandLine;
            let added = app.add_organisation(actor, mode, &currency, &change).await;
            let (detail, key) = added.map_err(text)?;
            let mut facts = facts(&detail);
            facts.push(("apiKey", json!(key.expose())));
            print(facts, json);
        }
        Command::List => list(&app, json).await?,
        Command::Show { id } => {
            let detail = app.organisation(org_id(&app, &id).await?).await.map_err(text)?;
            print(facts(&detail), json);
        }
        Command::Set { id, name, fields } => {
            let (id, change) = (org_id(&app, &id).await?, fields.change(name));
            let changed = app.change_organisation(Actor::CommandLine, id, change).await;
            print(facts(&changed.map_err(text)?), json);
        }
    }
    Ok(())
}

/// Page by page, so that a long list is printed as it is read.
async fn list(app: &App, json: bool) -> Result<(), String> {
    let mut after: Option<OrgId> = None;
    let mut rows = Vec::new();
    loop {
        let page = app.organisations(after, limits::OPERATOR_PAGE_MAX).await;
        let page = page.map_err(|error| error.to_string())?;
        let Some(last) = page.last() else { break };
        after = Some(last.organisation.id);
        rows.extend(page);
    }
    if json {
        let all: Vec<Value> = rows.iter().map(|detail| object(facts(detail))).collect();
        output::json(&json!({ "organisations": all }));
        return Ok(());
    }
    if rows.is_empty() {
        output::line("no organisations yet\n  next: tern org add NAME --currency USD --sandbox");
        return Ok(());
    }
    let rows: Vec<_> = rows
        .iter()
        .map(|Detail { organisation, balances }| {
            let mode = if organisation.mode == Mode::Sandbox { "sandbox" } else { "live" };
            let balance =
                format!("{} {}", balances.balance.in_major(), organisation.currency.code());
            let id = organisation.known_as.to_string();
            vec![id, mode.to_owned(), balance, organisation.profile.name.clone()]
        })
        .collect();
    output::table(&["ID", "KIND", "BALANCE", "NAME"], &rows);
    Ok(())
}

fn facts(detail: &Detail) -> Vec<(&'static str, Value)> {
    let Detail { organisation, balances } = detail;
    let (profile, settings) = (&organisation.profile, &organisation.settings);
    vec![
        ("id", json!(organisation.known_as.to_string())),
        ("name", json!(profile.name)),
        ("sandbox", json!(organisation.mode == Mode::Sandbox)),
        ("currency", json!(organisation.currency.code())),
        ("balance", json!(balances.balance.in_minor())),
        ("testCredit", json!(balances.test_credit.in_minor())),
        ("groups", json!(settings.groups)),
        ("callbackUrl", json!(settings.callback_url.as_ref().map_or("", CallbackUrl::as_str))),
        ("callbackVersion", json!(settings.callback_version.name())),
        ("usageEvents", json!(settings.usage_events.name())),
        ("callbackEvents", json!(settings.callback_events)),
        ("senders", json!(settings.senders)),
        ("ipAllowList", json!(settings.ip_allow_list)),
        ("rateLimit", json!(settings.rate_limit)),
        ("priceList", json!(settings.price_list)),
        ("refundDays", json!(settings.refund_days)),
        ("billing", json!(settings.billing.name())),
        ("createdAt", json!(organisation.created_at.to_string())),
    ]
}

fn object(facts: Vec<(&'static str, Value)>) -> Value {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn print(facts: Vec<(&'static str, Value)>, json: bool) {
    if json {
        output::json(&object(facts));
        return;
    }
    let shown = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => "-".to_owned(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        other => other.to_string(),
    };
    let pairs: Vec<_> = facts.into_iter().map(|(name, value)| (name, shown(value))).collect();
    output::pairs(&pairs);
}
