//! Every kind of order as a page, and what the routes answer around it.

use std::future::ready;

use app::StoreError;
use app::orders::{Assigned, Item, ItemKind, Order, Receipt, Shown, Status, Target};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use domain::organisation::{Endpoint, Profile, Settings};
use domain::{BundleName, Currency, Iccid, Mode, OrderId, OrgId, Organisation, Timestamp};
use tower::ServiceExt;

use super::page::page;
use super::routes;

const REFERENCE: &str = "d23f0824-128b-4f33-8c5c-7fd0a6a3a450";
const SEAL: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
/// 2026-05-04T08:10:41.3Z.
const PLACED_MS: i64 = 1_777_882_241_300;

/// A completed order of these items, none on an eSIM, paid from the balance.
fn receipt(items: &[(ItemKind, &str, i64, i64)]) -> Receipt {
    let items: Vec<_> = items.iter().map(|item| line(*item)).collect();
    let bought = items.iter().any(|item| item.kind == ItemKind::Bundle);
    let created_at = Timestamp::from_ms(PLACED_MS);
    let order = Order {
        id: OrderId::new(created_at, [0; 10]),
        org: OrgId::HOUSE,
        reference: REFERENCE.to_owned(),
        status: Status::Completed,
        status_message: String::new(),
        target: if bought { Target::Inventory } else { Target::Nowhere },
        total: items.iter().map(|item| item.sub_total).sum(),
        test_credit: 0,
        running_balance: 184_010,
        source_ip: "192.0.2.17".to_owned(),
        created_at,
        finished_at: Some(created_at),
        is_listed: true,
    };
    let (assigned, codes) = (Vec::new(), Vec::new());
    let shown = Shown { order, currency: currency("USD"), items, assigned, codes, receipt: None };
    Receipt { organisation: organisation(), shown }
}

fn line((kind, item, quantity, price_per_unit): (ItemKind, &str, i64, i64)) -> Item {
    let sub_total = quantity * price_per_unit;
    let item = item.to_owned();
    Item { kind, item, quantity, sub_total, price_per_unit, allow_reassign: false }
}

fn organisation() -> Organisation {
    let profile = Profile {
        name: "Nordlicht Reisen GmbH".to_owned(),
        addr1: "Hafenstraße 12".to_owned(),
        city: "Hamburg".to_owned(),
        postcode: "20359".to_owned(),
        country: "Germany".to_owned(),
        notes: "pays late".to_owned(),
        ..Profile::default()
    };
    Organisation {
        id: OrgId::HOUSE,
        known_as: OrgId::HOUSE,
        mode: Mode::Live,
        currency: currency("USD"),
        profile,
        settings: Settings::default(),
        endpoint: Endpoint::default(),
        created_at: Timestamp::from_ms(0),
    }
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("a code")
}

/// The order with its bundles on these eSIMs, one each time an eSIM is named.
fn onto(mut receipt: Receipt, esims: &[u8]) -> Receipt {
    receipt.shown.order.target = Target::Esims;
    let assigned = esims.iter().zip(0..).map(|(esim, n)| Assigned {
        item: 0,
        n,
        iccid: iccid(*esim),
        bundle: BundleName::parse("esim_1GB_7D_PT_V2").expect("a name"),
        is_new_esim: true,
    });
    receipt.shown.assigned = assigned.collect();
    receipt
}

fn iccid(number: u8) -> Iccid {
    Iccid::parse(&format!("8943001000000{number:06}")).expect("nineteen digits")
}

fn bundles() -> Receipt {
    receipt(&[(ItemKind::Bundle, "esim_1GB_7D_PT_V2", 6, 240)])
}

fn applied() -> Receipt {
    let name = |n: i64| format!("6f0c1d0a-8a5d-4b5e-9a51-0c9d5f6f7a11-{n}");
    let (first, second) = (name(1), name(2));
    let kind = ItemKind::BundleAssignment;
    onto(receipt(&[(kind, &first, 0, 0), (kind, &second, 0, 0)]), &[1, 1])
}

fn failed(mut receipt: Receipt) -> Receipt {
    receipt.shown.order.status = Status::Failed;
    receipt.shown.order.finished_at = Some(Timestamp::from_ms(PLACED_MS + 600_000));
    receipt
}

fn with_credit(mut receipt: Receipt, test_credit: i64) -> Receipt {
    receipt.shown.order.test_credit = test_credit;
    receipt
}

fn in_currency(mut receipt: Receipt, code: &str) -> Receipt {
    receipt.shown.currency = currency(code);
    receipt
}

/// The page, after checking what holds for each.
fn rendered(receipt: &Receipt) -> String {
    let html = page(receipt).into_string();
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{html}");
    assert_eq!(html.matches("<h1>").count(), 1, "{html}");
    for never in ["<script", "<style", " style=", " onload", "javascript:", "<img", "<iframe"] {
        assert!(!html.contains(never), "{never} in {html}");
    }
    for secret in ["894300", "192.0.2.17", "184010", "1,840.10", "pays late"] {
        assert!(!html.contains(secret), "{secret} in {html}");
    }
    let (cells, headers) = (html.matches("<th ").count(), html.matches("<th scope=").count());
    assert_eq!(cells, headers, "every header says what it is the head of");
    assert_eq!(html.matches(receipt.shown.currency.code()).count(), 1, "the currency, once");
    html
}

/// What a person reads: the text alone, tags as blanks.
fn read(receipt: &Receipt) -> String {
    let html = rendered(receipt);
    let body = html.split_once("<body>").expect("a body").1;
    let text = body.split('<').filter_map(|part| part.split_once('>').map(|(_, text)| text));
    let words: Vec<_> = text.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

fn says(receipt: &Receipt, texts: &[&str]) {
    let read = read(receipt);
    for text in texts {
        assert!(read.contains(text), "{text:?} is missing: {read}");
    }
}

#[test]
fn bundles_into_the_inventory() {
    says(
        &bundles(),
        &[
            "Receipt 6 bundles added to the inventory. Paid from the balance.",
            "Customer Nordlicht Reisen GmbH Hafenstraße 12 20359 Hamburg Germany",
            "Reference d23f0824-128b-4f33-8c5c-7fd0a6a3a450 Date 4 May 2026, 08:10 UTC",
            "Status Completed",
            "Bundle esim_1GB_7D_PT_V2 6 2.40 14.40 Total USD 14.40",
        ],
    );
    let html = rendered(&bundles());
    assert!(html.contains("<time datetime=\"2026-05-04T08:10:41.3Z\">"));
    assert!(html.contains("<code>d23f0824-128b-4f33-8c5c-7fd0a6a3a450</code>"));
    assert!(html.contains(&format!("<title>Receipt {REFERENCE}</title>")));
    assert!(!html.contains("promotional") && !html.contains("Sandbox"));
}

#[test]
fn bundles_onto_esims() {
    let six = onto(bundles(), &[1, 2, 3, 4, 5, 6]);
    says(&six, &["Receipt 6 bundles on 6 eSIMs. Paid from the balance.", "Total USD 14.40"]);
    let one = onto(receipt(&[(ItemKind::Bundle, "esim_1GB_7D_PT_V2", 1, 240)]), &[1]);
    says(&one, &["1 bundle on 1 eSIM."]);
    says(&onto(bundles(), &[1, 1, 1, 2, 2, 2]), &["6 bundles on 2 eSIMs."]);
}

#[test]
fn several_items() {
    let several = receipt(&[
        (ItemKind::Bundle, "esim_1GB_7D_PT_V2", 1_000, 240),
        (ItemKind::Bundle, "esim_UL_30D_RGE_V2", 25, 4_999),
        (ItemKind::Bundle, "esim_free", 2, 0),
    ]);
    says(
        &several,
        &[
            "1,027 bundles added to the inventory.",
            "esim_1GB_7D_PT_V2 1,000 2.40 2,400.00",
            "esim_UL_30D_RGE_V2 25 49.99 1,249.75",
            "esim_free 2 0.00 0.00 Total USD 3,649.75",
        ],
    );
    says(&receipt(&[(ItemKind::Bundle, "esim_free", 2, 0)]), &["Nothing was charged."]);
}

#[test]
fn a_refund() {
    let refund = || receipt(&[(ItemKind::BundleRefund, "esim_1GB_7D_PT_V2", 3, 240)]);
    let line = "Bundle given back esim_1GB_7D_PT_V2 3 2.40 7.20 Total refunded USD 7.20";
    let added = "Refund 3 bundles given back. The amount was added to the balance.";
    says(&refund(), &[added, line]);
    says(
        &with_credit(refund(), 200),
        &[
            "Promotional credit and balance each got back the part they had paid.",
            "Total refunded USD 7.20 To promotional credit 2.00 To the balance 5.20",
        ],
    );
    let all = read(&with_credit(refund(), 720));
    assert!(all.contains("To promotional credit 7.20") && !all.contains("To the balance"), "{all}");
}

#[test]
fn payments() {
    let charged = "The stored card was charged and the amount added to the balance.";
    for (kind, words) in [
        (ItemKind::ApiTopup, "Top-up by card, over the API No. 1042"),
        (ItemKind::Topup, "Top-up by card, in the portal No. 1042"),
        (ItemKind::AutoTopup, "Automatic top-up by card No. 1042"),
    ] {
        let topup = receipt(&[(kind, "1042", 1, 250_000)]);
        let sums = format!("{words} 1 2,500.00 2,500.00 Total USD 2,500.00");
        says(&topup, &["Top-up", charged, &sums]);
        let by_itself = read(&topup).contains("The balance had fallen below");
        assert_eq!(by_itself, kind == ItemKind::AutoTopup);
    }
}

#[test]
fn bundles_from_the_inventory_cost_nothing() {
    says(
        &applied(),
        &[
            "Receipt 2 bundles from the inventory on 1 eSIM. Nothing was charged.",
            "put on an eSIM 6f0c1d0a-8a5d-4b5e-9a51-0c9d5f6f7a11-2 0 0.00 0.00 Total USD 0.00",
        ],
    );
    let back = "Nothing was charged: the bundles are back in the inventory.";
    says(&failed(applied()), &["Order failed", back]);
}

#[test]
fn an_order_that_is_being_processed() {
    let mut order = onto(bundles(), &[1, 2, 3, 4, 5, 6]);
    order.shown.order.status = Status::Processing;
    order.shown.order.finished_at = None;
    says(
        &order,
        &[
            "Order being processed The order was accepted",
            "The amount has been taken; all of it is returned if the order fails.",
            "Status Being processed",
        ],
    );
}

#[test]
fn an_order_that_failed() {
    says(
        &failed(onto(bundles(), &[1, 2])),
        &[
            "Order failed The order was not fulfilled.",
            "Nothing was charged: the amount was returned on 4 May 2026, 08:20 UTC",
            "Status Failed",
            "Total 14.40 Returned to the balance 14.40 Charged USD 0.00",
        ],
    );
    says(
        &failed(with_credit(bundles(), 440)),
        &[
            "Total 14.40 Returned to promotional credit 4.40 Returned to the balance 10.00",
            "Charged USD 0.00",
        ],
    );
}

#[test]
fn what_promotional_credit_paid() {
    says(
        &with_credit(bundles(), 440),
        &[
            "Paid from promotional credit and the balance.",
            "Total USD 14.40 From promotional credit 4.40 From the balance 10.00",
        ],
    );
    let all = read(&with_credit(bundles(), 1_440));
    assert!(all.contains("Paid from promotional credit. "), "{all}");
    assert!(all.contains("From promotional credit 14.40 Whoever"), "{all}");
}

#[test]
fn currencies_keep_their_decimals() {
    says(&in_currency(bundles(), "JPY"), &["6 240 1,440 Total JPY 1,440"]);
    says(&in_currency(bundles(), "KWD"), &["6 0.240 1.440 Total KWD 1.440"]);
    let credited = in_currency(with_credit(bundles(), 40), "KWD");
    says(&credited, &["From promotional credit 0.040 From the balance 1.400"]);
}

#[test]
fn a_sandbox_moves_no_money() {
    let mut test = bundles();
    test.organisation.mode = Mode::Sandbox;
    says(&test, &["Sandbox. This is a test: no real money was moved."]);
}

#[test]
fn markup_stays_text() {
    const HARM: &str = "<script>alert(1)</script><b style=\"x\" onload='y'>&\"'";
    let mut harmful = receipt(&[(ItemKind::Bundle, HARM, 1, 240)]);
    let profile = &mut harmful.organisation.profile;
    for field in [
        &mut profile.name,
        &mut profile.addr1,
        &mut profile.addr2,
        &mut profile.city,
        &mut profile.postcode,
        &mut profile.country,
        &mut harmful.shown.order.reference,
    ] {
        HARM.clone_into(field);
    }
    let html = page(&harmful).into_string();
    assert!(!html.contains("<script") && !html.contains("<b "), "{html}");
    let defused = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;b style=&quot;x&quot; onload='y'&gt;";
    // The reference stands in the title too.
    assert_eq!(html.matches(defused).count(), 9, "{html}");
}

#[test]
fn an_address_leaves_no_empty_lines() {
    let mut nameless = bundles();
    nameless.organisation.profile =
        Profile { name: "Solo".to_owned(), city: " ".to_owned(), ..Profile::default() };
    says(&nameless, &["Customer Solo Order"]);
    assert!(!rendered(&nameless).contains("<bdi></bdi>"));
}

/// A router that knows one receipt, and a database that is away or broken for some references.
fn router() -> Router {
    routes(|reference, seal| {
        ready(match (reference.as_str(), seal.as_str()) {
            (REFERENCE, SEAL) => Ok(Some(bundles())),
            ("away", _) => Err(StoreError::Unavailable("secret.example:5432".to_owned())),
            ("busy", _) => Err(StoreError::Busy),
            ("broken", _) => Err(StoreError::Refused("secret.example".to_owned())),
            (reference, seal) => {
                assert!(!reference.contains('\0') && !seal.contains('\0'), "is not asked for");
                Ok(None)
            }
        })
    })
}

async fn asked(method: Method, path: &str) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder().method(method).uri(path).body(Body::empty());
    let request = request.expect("a plain request");
    let response = router().oneshot(request).await.expect("the router never fails");
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("the body is in memory");
    (head.status, head.headers, String::from_utf8(body.into()).expect("pages are text"))
}

/// A page, with the headers each has.
async fn got(path: &str) -> (StatusCode, HeaderMap, String) {
    let (status, headers, body) = asked(Method::GET, path).await;
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(headers[name], value, "{path}");
    }
    let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().expect("plain text");
    assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("script") && !policy.contains("unsafe"), "{policy}");
    (status, headers, body)
}

#[tokio::test]
async fn the_link_leads_to_the_receipt() {
    let path = format!("/receipts/{REFERENCE}/{SEAL}");
    let (status, _, body) = got(&path).await;
    assert_eq!((status, body), (StatusCode::OK, page(&bundles()).into_string()));
    let (status, _, body) = asked(Method::HEAD, &path).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, ""));
    assert_eq!(asked(Method::POST, &path).await.0, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn every_wrong_link_gets_the_same_answer() {
    let wrong_seal = got(&format!("/receipts/{REFERENCE}/wrong")).await;
    assert_eq!(wrong_seal.0, StatusCode::NOT_FOUND);
    assert!(wrong_seal.2.contains("No receipt at this address"));
    assert!(!wrong_seal.2.contains(REFERENCE));
    for path in [
        format!("/receipts/11111111-128b-4f33-8c5c-7fd0a6a3a450/{SEAL}"),
        format!("/receipts/{REFERENCE}"),
        format!("/receipts/{REFERENCE}/{SEAL}/more"),
        format!("/receipts/{REFERENCE}/{SEAL}%00"),
        format!("/receipts/%00/{SEAL}"),
        format!("/receipts/%ff/{SEAL}"),
        "/receipts/%3Cb%3E/%3Cscript%3E".to_owned(),
        "/receipts".to_owned(),
    ] {
        assert_eq!(got(&path).await, wrong_seal, "{path}");
    }
}

#[tokio::test]
async fn a_database_that_is_away_says_when_to_come_back() {
    for path in ["/receipts/away/1", "/receipts/busy/1"] {
        let (status, headers, body) = got(path).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(headers[header::RETRY_AFTER], "1");
        assert!(body.contains("load this page again") && !body.contains("secret"), "{body}");
    }
    let (status, headers, body) = got("/receipts/broken/1").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!headers.contains_key(header::RETRY_AFTER));
    assert!(body.contains("the order is not affected") && !body.contains("secret"), "{body}");
}

#[tokio::test]
async fn the_style_is_a_file_of_ours() {
    let (status, headers, body) = asked(Method::GET, "/receipts/style.css").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers[header::CONTENT_TYPE], "text/css; charset=utf-8");
    assert!(headers.contains_key(header::ETAG));
    assert!(body.contains("--ground: #ffffff") && body.contains("@media print"));
    assert!(!body.contains("url(") && !body.contains("@import"));
    assert!(page(&bundles()).into_string().contains("href=\"/receipts/style.css\""));
}
