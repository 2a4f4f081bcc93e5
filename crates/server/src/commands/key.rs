//! `tern key`.

use app::Actor;
use app::keys::{Error, Key};
use clap::Subcommand;
use domain::{KeyId, OrgId};
use serde_json::{Value, json};

use super::{org_id, whose};
use crate::config::Config;
use crate::{opened, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make an operator key for /operator/v1.
    Operator {
        /// What it is for.
        #[arg(long, default_value = "")]
        label: String,
    },
    /// Make a further API key for an organisation.
    Add {
        /// The organisation's id.
        org: String,
        /// What it is for.
        #[arg(long, default_value = "")]
        label: String,
        /// Make it the one that is shown to the reseller and signs its callbacks.
        #[arg(long)]
        primary: bool,
    },
    /// List the keys of an organisation, or the operator keys.
    List {
        /// The organisation's id; without it the operator keys.
        org: Option<String>,
    },
    /// Make a key the one that is shown to the reseller and signs its callbacks.
    Primary {
        /// The key's id.
        key: String,
        /// The organisation's id; without it an operator key is meant.
        #[arg(long)]
        org: Option<String>,
    },
    /// Revoke a key. It is refused everywhere within a second.
    Revoke {
        /// The key's id.
        key: String,
        /// The organisation's id; without it an operator key is meant.
        #[arg(long)]
        org: Option<String>,
    },
}

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<(), String> {
    let app = match command {
        Command::Operator { .. } => opened::open(config).await?,
        _ => opened::open_existing(config).await?,
    };
    let actor = Actor::CommandLine;
    let text = |error: Error| error.to_string();
    match command {
        Command::Operator { label } => {
            let added = app.add_key(actor, OrgId::HOUSE, &label, false).await.map_err(text)?;
            added_key(&added.0, "operatorKey", added.1.expose(), json);
        }
        Command::Add { org, label, primary } => {
            let added = app
                .add_key(actor, org_id(&app, &org).await?, &label, primary)
                .await
                .map_err(text)?;
            added_key(&added.0, "apiKey", added.1.expose(), json);
        }
        Command::List { org } => {
            list(&app.keys(whose(&app, org).await?).await.map_err(text)?, json);
        }
        Command::Primary { key, org } => {
            app.make_key_primary(actor, whose(&app, org).await?, key_id(&key)?)
                .await
                .map_err(text)?;
            done("primary", json);
        }
        Command::Revoke { key, org } => {
            app.revoke_key(actor, whose(&app, org).await?, key_id(&key)?).await.map_err(text)?;
            done("revoked", json);
        }
    }
    Ok(())
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text)
        .map_err(|_| format!("{text} is no key id\n  next: `tern key list` shows them"))
}

fn done(status: &str, json: bool) {
    if json {
        output::json(&json!({ "status": status }));
    } else {
        output::line(status);
    }
}

fn added_key(key: &Key, name: &'static str, text: &str, json: bool) {
    if json {
        let mut facts = facts(key);
        facts[name] = json!(text);
        output::json(&facts);
        return;
    }
    output::pairs(&[("id", key.id.to_string()), (name, text.to_owned())]);
    output::line("It is shown this once; keep it where secrets are kept.");
}

fn list(keys: &[Key], json: bool) {
    if json {
        let all: Vec<Value> = keys.iter().map(facts).collect();
        output::json(&json!({ "keys": all }));
        return;
    }
    let rows: Vec<_> = keys
        .iter()
        .map(|key| {
            let state = match (key.revoked_at, key.primary_at) {
                (Some(time), _) => format!("revoked {time}"),
                (None, Some(_)) => "primary".to_owned(),
                (None, None) => "works".to_owned(),
            };
            vec![key.id.to_string(), state, key.created_at.to_string(), key.label.clone()]
        })
        .collect();
    output::table(&["ID", "STATE", "MADE", "LABEL"], &rows);
}

fn facts(key: &Key) -> Value {
    json!({
        "id": key.id.to_string(),
        "label": key.label,
        "primary": key.primary_at.is_some(),
        "createdAt": key.created_at.to_string(),
        "revokedAt": key.revoked_at.map(|time| time.to_string()),
    })
}
