//! `/operator/v1/organisations`.

use app::organisations::{Change, Detail, Error};
use axum::extract::State;
use domain::CallbackUrl;
use domain::organisation::Settings;
use domain::{Mode, OrgId};
use http::StatusCode;
use serde::Serialize;

use super::{OfOrg, not_found, page, page_size};
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, Fields, ok};
use crate::problem::Problem;
use crate::query::Query;

/// `GET /organisations`.
pub(crate) async fn list(
    _: ByOperator,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Page>, Problem> {
    let size = page_size(&query)?;
    let after = query.one("after").map(OrgId::parse).transpose();
    let after = after.map_err(|_| Problem::invalid("after"))?;
    let rows = api.app.organisations(after, size + 1).await?;
    let (rows, next) = page(rows, size, |row| row.organisation.id.to_string());
    Ok(ok(Page { organisations: rows.into_iter().map(Organisation::from).collect(), next }))
}

/// `POST /organisations`.
pub(crate) async fn add(
    ByOperator(operator): ByOperator,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Added>, Problem> {
    let change = change_from(&mut fields)?;
    let mode = match fields.boolean("sandbox")? {
        Some(true) => Mode::Sandbox,
        _ => Mode::Live,
    };
    let currency = fields.text("currency")?.ok_or_else(|| Problem::missing("currency"))?;
    if change.name.is_none() {
        return Err(Problem::missing("name"));
    }
    let (detail, key) =
        api.app.add_organisation(operator.actor(), mode, &currency, &change).await?;
    let added = Added { organisation: detail.into(), api_key: key.expose().clone() };
    Ok(Answer(StatusCode::CREATED, added))
}

/// `GET /organisations/{id}`.
pub(crate) async fn show(
    _: ByOperator,
    OfOrg(id): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Organisation>, Problem> {
    Ok(ok(api.app.organisation(id).await?.into()))
}

/// `PATCH /organisations/{id}`.
pub(crate) async fn change(
    ByOperator(operator): ByOperator,
    OfOrg(id): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Organisation>, Problem> {
    let change = change_from(&mut fields)?;
    for fixed in ["sandbox", "currency"] {
        if fields.has(fixed) {
            let text = format!("{fixed} is fixed when an organisation is made");
            return Err(Problem::bad_request("fixed-field", text));
        }
    }
    Ok(ok(api.app.change_organisation(operator.actor(), id, change).await?.into()))
}

fn change_from(fields: &mut Fields) -> Result<Change, Problem> {
    // `null` takes a limit away, and so does 0.
    let amount = |fields: &mut Fields, name: &str| {
        let reset = fields.is_null(name).then_some(0);
        Ok::<_, Problem>(fields.int(name)?.or(reset))
    };
    Ok(Change {
        name: fields.text("name")?,
        tax_liable: fields.text("taxLiable")?,
        addr1: fields.text("addr1")?,
        addr2: fields.text("addr2")?,
        city: fields.text("city")?,
        country: fields.text("country")?,
        postcode: fields.text("postcode")?,
        notes: fields.text("notes")?,
        business_type: fields.text("businessType")?,
        website: fields.text("website")?,
        product_description: fields.text("productDescription")?,
        groups: fields.texts("groups")?,
        callback_url: fields.text("callbackUrl")?,
        callback_version: fields.text("callbackVersion")?,
        usage_events: fields.text("usageEvents")?,
        usage_steps: fields.ints("usageSteps")?,
        callback_events: fields.texts("callbackEvents")?,
        low_balance: amount(fields, "lowBalance")?,
        senders: fields.texts("senders")?,
        ip_allow_list: fields.texts("ipAllowList")?,
        rate_limit: amount(fields, "rateLimit")?,
        topup_minimum: amount(fields, "topupMinimum")?,
        topup_daily_maximum: amount(fields, "topupDailyMaximum")?,
        auto_topup_threshold: amount(fields, "autoTopupThreshold")?,
        auto_topup_amount: amount(fields, "autoTopupAmount")?,
        price_list: fields.text("priceList")?,
        refund_days: fields.int("refundDays")?,
        billing: fields.text("billing")?,
    })
}

#[derive(Serialize)]
pub(crate) struct Page {
    organisations: Vec<Organisation>,
    next: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Added {
    #[serde(flatten)]
    organisation: Organisation,
    api_key: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Organisation {
    id: String,
    sandbox: bool,
    name: String,
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
    balance: i64,
    test_credit: i64,
    test_credit_expiry: Option<String>,
    business_type: String,
    website: String,
    product_description: String,
    callback_version: &'static str,
    usage_events: &'static str,
    usage_steps: Vec<i64>,
    callback_events: Vec<String>,
    low_balance: i64,
    senders: Vec<String>,
    ip_allow_list: Vec<String>,
    rate_limit: Option<u32>,
    topup_minimum: Option<i64>,
    topup_daily_maximum: Option<i64>,
    auto_topup_threshold: Option<i64>,
    auto_topup_amount: Option<i64>,
    price_list: String,
    refund_days: i64,
    billing: &'static str,
    created_at: String,
}

impl From<Detail> for Organisation {
    fn from(detail: Detail) -> Self {
        let Detail { organisation, balances } = detail;
        let low_balance = organisation.low_balance().in_minor();
        let profile = organisation.profile;
        let Settings {
            groups,
            callback_url,
            callback_version,
            usage_events,
            usage_steps,
            callback_events,
            low_balance: _,
            senders,
            ip_allow_list,
            rate_limit,
            topup,
            price_list,
            refund_days,
            billing,
        } = organisation.settings;
        Self {
            id: organisation.known_as.to_string(),
            sandbox: organisation.mode == Mode::Sandbox,
            name: profile.name,
            tax_liable: profile.tax_liable,
            addr1: profile.addr1,
            addr2: profile.addr2,
            city: profile.city,
            country: profile.country,
            postcode: profile.postcode,
            callback_url: callback_url.as_ref().map_or("", CallbackUrl::as_str).to_owned(),
            notes: profile.notes,
            groups,
            currency: organisation.currency.code().to_owned(),
            balance: balances.balance.in_minor(),
            test_credit: balances.test_credit.in_minor(),
            test_credit_expiry: balances.test_credit_expires_at.map(|time| time.to_string()),
            business_type: profile.business_type,
            website: profile.website,
            product_description: profile.product_description,
            callback_version: callback_version.name(),
            usage_events: usage_events.name(),
            usage_steps,
            callback_events,
            low_balance,
            senders,
            ip_allow_list,
            rate_limit,
            topup_minimum: topup.minimum,
            topup_daily_maximum: topup.daily_maximum,
            auto_topup_threshold: topup.auto_threshold,
            auto_topup_amount: topup.auto_amount,
            price_list,
            refund_days,
            billing: billing.name(),
            created_at: organisation.created_at.to_string(),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Unknown => not_found("unknown-organisation", error.to_string()),
            Error::Field { .. } => Self::bad_request("invalid-field", error.to_string()),
            Error::Store(cause) => cause.into(),
        }
    }
}
