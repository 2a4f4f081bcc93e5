//! The caller's own organisation, and what can be asked.

use app::account::Account;
use axum::extract::State;
use domain::User;
use domain::organisation::Profile;
use serde::Serialize;

use crate::answers::shown;
use crate::caller::By;
use crate::json::{Answer, ok};
use crate::money::Amount;
use crate::problem::Problem;
use crate::routes::{Surface, operations};
use crate::versions::Version;
use crate::{Api, money};

/// `GET /`: the operations of this version.
pub(crate) async fn index(_: By, State(api): State<Api>) -> Answer<Vec<String>> {
    let listed = operations(Surface::Interface(api.version));
    ok(listed.iter().map(|operation| format!("{} {}", operation.method, operation.path)).collect())
}

/// `GET /organisation`.
pub(crate) async fn organisation(
    By(caller): By,
    State(api): State<Api>,
) -> Result<Answer<Organisations>, Problem> {
    let account = api.app.account(&caller).await?;
    Ok(ok(Organisations { organisations: [Organisation::new(account, api.version)] }))
}

#[derive(Serialize)]
pub(crate) struct Organisations {
    organisations: [Organisation; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Organisation {
    name: String,
    api_key: String,
    tax_liable: String,
    addr1: String,
    addr2: String,
    city: String,
    country: String,
    postcode: String,
    callback_url: String,
    notes: String,
    groups: Vec<String>,
    currency: String,
    balance: Amount,
    test_credit: Amount,
    test_credit_expiry: Option<String>,
    business_type: String,
    website: String,
    product_description: String,
    users: Vec<WireUser>,
}

impl Organisation {
    fn new(account: Account, version: Version) -> Self {
        let balance = shown(account.balances.balance, account.balances.test_credit, version);
        let Account { organisation, balances, api_key, users } = account;
        let Profile {
            name,
            tax_liable,
            addr1,
            addr2,
            city,
            country,
            postcode,
            notes,
            business_type,
            website,
            product_description,
        } = organisation.profile;
        let settings = organisation.settings;
        Self {
            name,
            api_key: api_key.map_or_else(String::new, |key| key.expose().clone()),
            tax_liable,
            addr1,
            addr2,
            city,
            country,
            postcode,
            callback_url: settings.callback_url.map_or_else(String::new, |u| u.as_str().to_owned()),
            notes,
            groups: settings.groups,
            currency: organisation.currency.code().to_owned(),
            balance: money::print(balance, version),
            test_credit: money::print(balances.test_credit, version),
            test_credit_expiry: balances.test_credit_expires_at.map(|time| time.to_string()),
            business_type,
            website,
            product_description,
            users: users.into_iter().map(WireUser::from).collect(),
        }
    }
}

/// A user of the interface.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireUser {
    first_name: String,
    last_name: String,
    role: &'static str,
    email_address: String,
    phone_number: String,
    time_zone: String,
}

impl From<User> for WireUser {
    fn from(user: User) -> Self {
        Self {
            first_name: user.first_name,
            last_name: user.last_name,
            role: user.role.name(),
            email_address: user.email.as_str().to_owned(),
            phone_number: user.phone,
            time_zone: user.time_zone,
        }
    }
}
