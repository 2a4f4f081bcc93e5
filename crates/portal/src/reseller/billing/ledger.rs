//! The ledger: every change of the balance with what caused it, and the statement of a month.

use app::statement::{Heading, Posted};
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::ledger::{Account, read_postings};
use domain::{Money, OrgId, Right, Timestamp};
use futures_util::stream;
use maud::{Markup, html};

use super::{Desk, HOME, Routes, Trouble, Visit};
use crate::kit::figures;
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{Head, Pages, Row, Table, empty};
use crate::reseller::refused;
use crate::words::billing as words;
use domain::csv::cell;

/// Entries on a page.
const ROWS: i64 = 25;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get("/portal/billing/statement.csv", Right::Books, statement)
}

/// A page of entries, the newest first.
pub(super) async fn table(desk: &Desk, visit: &Visit, clock: Timestamp) -> Result<Markup, Trouble> {
    let before = visit.query.number("before");
    let entries = desk.app.ledger_page(visit.member.caller(), before, ROWS).await?;
    let [title, why] = words::LEDGER_EMPTY;
    if entries.is_empty() && before.is_none() {
        return Ok(empty(title, why, html! {}, None));
    }
    let currency = visit.member.organisation().currency;
    let money = |minor| Money::minor(minor, currency);
    let rows: Vec<Row> = entries.iter().map(|entry| row(entry, money, clock)).collect();
    let [when, what, cause, balance, credit] = words::LEDGER_HEADS;
    let heads = [
        Head::text(when),
        Head::text(what),
        Head::text(cause),
        Head::number(balance),
        Head::number(credit),
    ];
    let oldest = entries.last().map(|entry| entry.seq).filter(|seq| *seq > 1);
    let next = oldest.map(|seq| format!("{HOME}?before={seq}"));
    let first = before.map(|_| HOME);
    let pages = Pages { previous: first, next: next.as_deref(), says: "" };
    Ok(html! { (Table::new(words::LEDGER, &heads, &rows).pages(pages)) })
}

fn row(entry: &Posted, money: impl Fn(i64) -> Money, clock: Timestamp) -> Row {
    let change = |account| match moved(entry, account) {
        0 => figures::none(),
        minor => figures::money(money(minor)),
    };
    Row::plain([
        figures::time(entry.at, clock),
        html! { (words::kind(&entry.kind)) },
        cause(entry),
        change(Account::Available),
        change(Account::TestCredit),
    ])
}

/// What caused an entry: a link where there is a page, the operator's words otherwise.
fn cause(entry: &Posted) -> Markup {
    let has_page = ["order", "orderCompleted", "orderFailed", "refund"].contains(&&*entry.kind);
    let operator = ["credit", "testCredit"].contains(&&*entry.kind);
    match (has_page, operator) {
        (true, _) => html! {
            a href={ "/portal/orders/" (entry.reference) } { code { (entry.reference) } }
        },
        (_, true) => html! { (entry.reason) },
        _ => html! { code { (entry.reference) } },
    }
}

/// By how much an account was changed.
fn moved(entry: &Posted, account: Account) -> i64 {
    let postings = read_postings(&entry.postings).unwrap_or_default();
    postings.iter().filter(|posting| posting.account == account).map(|posting| posting.amount).sum()
}

pub(super) fn statement_form(clock: Timestamp) -> Markup {
    let month: String = clock.to_string().chars().take(7).collect();
    let field = Field::text("month", words::MONTH).value(&month).hint(words::MONTH_HINT).required();
    html! {
        form.form method="get" action="/portal/billing/statement.csv" {
            (field)
            (form::buttons(&[form::button(Kind::Plain, words::DOWNLOAD)]))
        }
    }
}

/// A statement while it is written.
struct Writing {
    desk: Desk,
    org: OrgId,
    heading: Heading,
    after: i64,
    to: Timestamp,
    head: Option<String>,
}

async fn statement(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let month = visit.query.text("month").to_owned();
    let Some((from, to)) = bounds(&month) else { return Ok(refused(HOME, words::BAD_MONTH)) };
    let org = visit.member.org();
    let heading = desk.app.statement(org, from).await?.ok_or(Trouble::Missing)?;
    let after = heading.before;
    let head = Some(words::CSV_HEAD.to_owned());
    let writing = Writing { desk, org, heading, after, to, head };
    let body = Body::from_stream(stream::try_unfold(writing, next));
    let name = format!("attachment; filename=\"statement-{month}.csv\"");
    let kind = "text/csv; charset=utf-8".to_owned();
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], body).into_response())
}

/// The next lines; none once the month is over. Memory stays flat however long it is.
async fn next(mut writing: Writing) -> Result<Option<(String, Writing)>, app::StoreError> {
    if let Some(head) = writing.head.take() {
        return Ok(Some((head, writing)));
    }
    let period = (writing.to, &writing.heading);
    let page = writing.desk.app.statement_page(writing.org, writing.after, period).await?;
    let Some(last) = page.last() else { return Ok(None) };
    writing.after = last.seq;
    let currency = writing.heading.currency;
    let lines = page.iter().map(|entry| {
        let change = |account| Money::minor(moved(entry, account), currency).in_major();
        let cells = [
            entry.seq.to_string(),
            entry.at.to_string(),
            cell(words::kind(&entry.kind)),
            cell(&entry.reference),
            cell(&entry.reason),
            change(Account::Available),
            change(Account::TestCredit),
            currency.code().to_owned(),
        ];
        cells.join(",") + "\r\n"
    });
    let text = lines.collect();
    Ok(Some((text, writing)))
}

/// When a month begins and the next one does.
fn bounds(month: &str) -> Option<(Timestamp, Timestamp)> {
    let (year, number) = month.split_once('-')?;
    let (year, number): (i32, u32) = (year.parse().ok()?, number.parse().ok()?);
    let next = if number == 12 { (year.checked_add(1)?, 1) } else { (year, number + 1) };
    let begin = |(year, month): (i32, u32)| {
        Timestamp::parse(&format!("{year:04}-{month:02}-01T00:00:00Z")).ok()
    };
    Some((begin((year, number))?, begin(next)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_next_begins() {
        let (from, to) = bounds("2026-12").expect("a month");
        assert_eq!(from.to_string(), "2026-12-01T00:00:00Z");
        assert_eq!(to.to_string(), "2027-01-01T00:00:00Z");
        for odd in ["", "2026", "2026-13", "2026-00", "x-1", "2026-5-1", "2147483647-12"] {
            assert!(bounds(odd).is_none(), "{odd}");
        }
    }
}
