//! Organisations and what is set for them.

use domain::assignment::STEPS;
use domain::organisation::{
    Billing, CallbackVersion, Endpoint, Profile, Settings, TopupSettings, UsageEvents,
};
use domain::{CallbackUrl, Currency, Mode, OrgId, Organisation, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

const FIND: &str = "SELECT id, mode, currency, created_at, name, tax_liable, addr1, addr2, city, \
     country, postcode, notes, business_type, website, product_description, bundle_groups, \
     callback_url, callback_version, usage_events, senders, ip_allow_list, rate_limit, \
     topup_minimum, topup_daily_maximum, auto_topup_threshold, auto_topup_amount, \
     price_list, refund_days, billing, usage_steps, callback_events, low_balance, known_as, \
     callbacks_paused_at, callbacks_failing_since, callbacks_off_at, callbacks_off_why \
     FROM organisations WHERE id = $1";
const PAGE: &str = "SELECT id, mode, currency, created_at, name, tax_liable, addr1, addr2, city, \
     country, postcode, notes, business_type, website, product_description, bundle_groups, \
     callback_url, callback_version, usage_events, senders, ip_allow_list, rate_limit, \
     topup_minimum, topup_daily_maximum, auto_topup_threshold, auto_topup_amount, \
     price_list, refund_days, billing, usage_steps, callback_events, low_balance, known_as, \
     callbacks_paused_at, callbacks_failing_since, callbacks_off_at, callbacks_off_why \
     FROM organisations WHERE id > $1 AND replaced_at IS NULL ORDER BY id LIMIT $2";
const INSERT: &str = "INSERT INTO organisations (id, mode, currency, created_at, name, tax_liable, \
     addr1, addr2, city, country, postcode, notes, business_type, website, product_description, \
     bundle_groups, callback_url, callback_version, usage_events, senders, ip_allow_list, \
     rate_limit, topup_minimum, topup_daily_maximum, auto_topup_threshold, auto_topup_amount, \
     price_list, refund_days, billing, usage_steps, callback_events, low_balance, known_as) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
     $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)";
const UPDATE: &str = "UPDATE organisations SET name = $2, tax_liable = $3, addr1 = $4, addr2 = $5, \
     city = $6, country = $7, postcode = $8, notes = $9, business_type = $10, website = $11, \
     product_description = $12, bundle_groups = $13, callback_url = $14, callback_version = $15, \
     usage_events = $16, senders = $17, ip_allow_list = $18, rate_limit = $19, \
     topup_minimum = $20, topup_daily_maximum = $21, auto_topup_threshold = $22, \
     auto_topup_amount = $23, price_list = $24, refund_days = $25, billing = $26, \
     usage_steps = $27, callback_events = $28, low_balance = $29 WHERE id = $1";
const PAUSE: &str = "UPDATE organisations SET callbacks_paused_at = $2 WHERE id = $1";
const SWITCH_ON: &str = "UPDATE organisations SET callbacks_failing_since = NULL, \
     callbacks_off_at = NULL, callbacks_off_why = '' WHERE id = $1";
const JUDGE: &str = "UPDATE organisations SET callbacks_failing_since = $3, \
     callbacks_off_at = $4, callbacks_off_why = $5 WHERE id = $1 AND callback_url = $2";
const KNOWN_AS: &str = "SELECT id FROM organisations WHERE known_as = $1 AND replaced_at IS NULL";
const IDS: &str = "SELECT id FROM organisations WHERE id > $1 ORDER BY id LIMIT $2";
const REPLACE: &str = "UPDATE organisations SET replaced_at = $2 WHERE id = $1";

/// The organisation of that id.
pub fn find(tx: &mut Tx<'_>, id: OrgId) -> Result<Option<Organisation>, StoreError> {
    tx.maybe(FIND, args![id])?.map(|row| organisation(&row)).transpose()
}

/// Lets the callbacks of an organisation wait, or go on.
pub fn pause(tx: &mut Tx<'_>, org: OrgId, at: Option<Timestamp>) -> Result<(), StoreError> {
    tx.later(PAUSE, args![org, at])
}

/// Forgets that the endpoint of an organisation ever failed.
pub fn switch_on(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.later(SWITCH_ON, args![org])
}

/// Writes how an endpoint does, unless it is another one by now: whoever changes the address does
/// not wait for what is under way to the old one.
pub fn judge(
    tx: &mut Tx<'_>,
    (org, url): (OrgId, &CallbackUrl),
    endpoint: &Endpoint,
) -> Result<(), StoreError> {
    let Endpoint { failing_since, off_at, off_why, .. } = endpoint;
    tx.later(JUDGE, args![org, url.as_str(), *failing_since, *off_at, off_why])
}

/// The organisation that is met under an id now, which may not be its own.
pub fn known_as(tx: &mut Tx<'_>, id: OrgId) -> Result<Option<OrgId>, StoreError> {
    tx.maybe(KNOWN_AS, args![id])?.map(|row| row.parsed(0, OrgId::parse)).transpose()
}

/// The ids of all there ever were, in order, after the given one.
pub fn ids(tx: &mut Tx<'_>, after: OrgId, most: i64) -> Result<Vec<OrgId>, StoreError> {
    let rows = tx.all(IDS, args![after, most])?;
    rows.iter().map(|row| row.parsed(0, OrgId::parse)).collect()
}

/// Keeps an organisation apart: another one is met under its id from now on.
pub fn replace(tx: &mut Tx<'_>, id: OrgId, at: Timestamp) -> Result<(), StoreError> {
    tx.exec(REPLACE, args![id, at]).map(drop)
}

/// Organisations in order of their ids, after the given one.
pub fn page(tx: &mut Tx<'_>, after: OrgId, most: i64) -> Result<Vec<Organisation>, StoreError> {
    tx.all(PAGE, args![after, most])?.iter().map(organisation).collect()
}

/// Adds one; its head must be there.
pub fn insert(tx: &mut Tx<'_>, organisation: &Organisation) -> Result<(), StoreError> {
    let Organisation { id, mode, currency, created_at, .. } = organisation;
    let mut args = args![*id, mode.name(), *currency, *created_at].to_vec();
    args.extend(changeable(organisation));
    args.push(Value::from(organisation.known_as));
    tx.exec(INSERT, &args).map(drop)
}

/// Writes profile and settings; mode and currency never change.
pub fn update(tx: &mut Tx<'_>, organisation: &Organisation) -> Result<(), StoreError> {
    let mut args = args![organisation.id].to_vec();
    args.extend(changeable(organisation));
    tx.exec(UPDATE, &args).map(drop)
}

fn changeable(organisation: &Organisation) -> [Value; 28] {
    let Organisation { profile, settings, .. } = organisation;
    [
        Value::from(&profile.name),
        Value::from(&profile.tax_liable),
        Value::from(&profile.addr1),
        Value::from(&profile.addr2),
        Value::from(&profile.city),
        Value::from(&profile.country),
        Value::from(&profile.postcode),
        Value::from(&profile.notes),
        Value::from(&profile.business_type),
        Value::from(&profile.website),
        Value::from(&profile.product_description),
        Value::from(settings.groups.join("\n")),
        Value::from(settings.callback_url.as_ref().map(CallbackUrl::as_str)),
        Value::from(settings.callback_version.name()),
        Value::from(settings.usage_events.name()),
        Value::from(settings.senders.join("\n")),
        Value::from(settings.ip_allow_list.join("\n")),
        Value::from(settings.rate_limit.map(i64::from)),
        Value::from(settings.topup.minimum),
        Value::from(settings.topup.daily_maximum),
        Value::from(settings.topup.auto_threshold),
        Value::from(settings.topup.auto_amount),
        Value::from(&settings.price_list),
        Value::from(settings.refund_days),
        Value::from(settings.billing.name()),
        Value::from(settings.usage_steps.iter().map(i64::to_string).collect::<Vec<_>>().join("\n")),
        Value::from(settings.callback_events.join("\n")),
        Value::from(settings.low_balance),
    ]
}

/// Percentages, one a line; nothing is the usual ones.
fn steps(text: &str) -> Vec<i64> {
    let own: Vec<_> = text.lines().filter_map(|line| line.parse().ok()).collect();
    if own.is_empty() { STEPS.to_vec() } else { own }
}

fn organisation(row: &Row) -> Result<Organisation, StoreError> {
    let text = |column: usize| row.text(column).map(ToOwned::to_owned);
    let lines = |column: usize| row.text(column).map(|text| text.lines().map(Into::into).collect());
    Ok(Organisation {
        id: row.parsed(0, OrgId::parse)?,
        mode: row.parsed(1, |text| Mode::parse(text).ok_or(()))?,
        currency: row.parsed(2, Currency::parse)?,
        known_as: row.parsed(32, OrgId::parse)?,
        endpoint: Endpoint {
            paused_at: row.time_or_none(33)?,
            failing_since: row.time_or_none(34)?,
            off_at: row.time_or_none(35)?,
            off_why: text(36)?,
        },
        created_at: row.time(3)?,
        profile: Profile {
            name: text(4)?,
            tax_liable: text(5)?,
            addr1: text(6)?,
            addr2: text(7)?,
            city: text(8)?,
            country: text(9)?,
            postcode: text(10)?,
            notes: text(11)?,
            business_type: text(12)?,
            website: text(13)?,
            product_description: text(14)?,
        },
        settings: Settings {
            groups: lines(15)?,
            // What no callback can be sent to any more is as good as none.
            callback_url: row.text_or_none(16)?.and_then(|text| CallbackUrl::parse(text).ok()),
            callback_version: row.parsed(17, |text| CallbackVersion::parse(text).ok_or(()))?,
            usage_events: row.parsed(18, |text| UsageEvents::parse(text).ok_or(()))?,
            senders: lines(19)?,
            ip_allow_list: lines(20)?,
            rate_limit: row.int_or_none(21)?.and_then(|limit| u32::try_from(limit).ok()),
            topup: TopupSettings {
                minimum: row.int_or_none(22)?,
                daily_maximum: row.int_or_none(23)?,
                auto_threshold: row.int_or_none(24)?,
                auto_amount: row.int_or_none(25)?,
            },
            price_list: text(26)?,
            refund_days: row.int(27)?,
            billing: row.parsed(28, |text| Billing::parse(text).ok_or(()))?,
            usage_steps: steps(row.text(29)?),
            callback_events: lines(30)?,
            low_balance: row.int_or_none(31)?,
        },
    })
}
