//! `tern user`.

use std::io::BufRead;

use app::Actor;
use app::users::{Error, NewUser};
use clap::Subcommand;
use domain::{Secret, User};
use serde_json::{Value, json};
use store::Rt;

use super::whose;
use crate::config::Config;
use crate::{opened, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Add a person and print a password made for it.
    Add {
        /// The address it signs in with.
        email: String,
        /// The organisation's id; without it the person is the operator's staff.
        #[arg(long)]
        org: Option<String>,
        /// Owner, Admin, Developer, Support or Viewer.
        #[arg(long, default_value = "Admin")]
        role: String,
        #[arg(long, default_value = "")]
        first_name: String,
        #[arg(long, default_value = "")]
        last_name: String,
        #[arg(long, default_value = "")]
        phone: String,
        #[arg(long, default_value = "Etc/UTC")]
        time_zone: String,
        /// Read the password from stdin instead of making one.
        #[arg(long)]
        password_stdin: bool,
    },
    /// List the people of an organisation, or the operator's staff.
    List {
        /// The organisation's id; without it the operator's staff.
        org: Option<String>,
    },
    /// Make a link with which a reseller's person chooses a password, to be handed over.
    Link {
        /// The address it signs in with.
        email: String,
    },
    /// Switch off the second factor of a person who has lost the device.
    FactorOff {
        /// The address it signs in with.
        email: String,
    },
    /// Give a person another password.
    Password {
        /// The address it signs in with.
        email: String,
        /// Read the password from stdin instead of making one.
        #[arg(long)]
        password_stdin: bool,
    },
}

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<(), String> {
    let app = match command {
        Command::Add { .. } => opened::open(config).await?,
        _ => opened::open_existing(config).await?,
    };
    let actor = Actor::CommandLine;
    let text = |error: Error| error.to_string();
    match command {
        Command::Add {
            email,
            org,
            role,
            first_name,
            last_name,
            phone,
            time_zone,
            password_stdin,
        } => {
            let org = whose(&app, org).await?;
            let password = password(password_stdin)?;
            let new = NewUser {
                first_name,
                last_name,
                role,
                email,
                phone,
                time_zone,
                password: Some(password.clone()),
            };
            let user = app.add_user(actor, org, new).await.map_err(text)?;
            let made = (!password_stdin).then_some(&password);
            tell(facts(&user), made, json);
        }
        Command::List { org } => {
            list(&app.users(whose(&app, org).await?).await.map_err(text)?, json);
        }
        Command::Link { email } => {
            let made = app.password_link_for(actor, &email).await.map_err(|e| e.to_string())?;
            let link = format!("{}/portal/link/{}", config.reached_at(), made.token.expose());
            let until = made.expires_at.to_string();
            tell(json!({ "emailAddress": email, "link": link, "expiresAt": until }), None, json);
        }
        Command::FactorOff { email } => {
            app.drop_factor_by_operator(actor, &email).await.map_err(|e| e.to_string())?;
            tell(json!({ "emailAddress": email, "secondFactor": "off" }), None, json);
        }
        Command::Password { email, password_stdin } => {
            let password = password(password_stdin)?;
            app.set_password(actor, &email, &password).await.map_err(text)?;
            let made = (!password_stdin).then_some(&password);
            tell(json!({ "emailAddress": email }), made, json);
        }
    }
    Ok(())
}

/// Never from a flag: those are seen by everybody on the machine.
fn password(from_stdin: bool) -> Result<Secret<String>, String> {
    if !from_stdin {
        return Ok(Secret::new(domain::hex(&Rt::real().random::<12>())));
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().read_line(&mut text);
    read.map_err(|error| format!("no password on stdin: {error}"))?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn tell(mut facts: Value, made: Option<&Secret<String>>, json: bool) {
    if let Some(password) = made {
        facts["password"] = json!(password.expose());
    }
    if json {
        output::json(&facts);
        return;
    }
    let shown = facts.as_object().into_iter().flatten();
    let pairs: Vec<_> = shown
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    output::pairs(&pairs);
    if made.is_some() {
        output::line("The password is shown this once.");
    }
}

fn list(users: &[User], json: bool) {
    if json {
        let all: Vec<Value> = users.iter().map(facts).collect();
        output::json(&json!({ "users": all }));
        return;
    }
    let rows: Vec<_> = users
        .iter()
        .map(|user| {
            let name = format!("{} {}", user.first_name, user.last_name).trim().to_owned();
            vec![user.email.as_str().to_owned(), user.role.name().to_owned(), name]
        })
        .collect();
    output::table(&["E-MAIL", "ROLE", "NAME"], &rows);
}

fn facts(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "emailAddress": user.email.as_str(),
        "role": user.role.name(),
        "firstName": user.first_name,
        "lastName": user.last_name,
        "phoneNumber": user.phone,
        "timeZone": user.time_zone,
    })
}
