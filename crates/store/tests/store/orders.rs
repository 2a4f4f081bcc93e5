//! Orders: their numbers, their pages, and every condition and order of their list against a list
//! in memory, on both databases.

use std::collections::BTreeSet;

use domain::filter::{Comparison, Direction, NumberTest, Page, TextTest};
use domain::order::{FAILED, Item, ItemKind, Order, PROCESSING, Status, Target};
use domain::{OrderId, OrgId, Timestamp};
use store::orders::{self, Filter, Gist, Leaf, SortBy};
use store::{Rt, Store, StoreError, args, heads};

use crate::fixture::{Fixture, new_org};
use crate::on_both;

on_both! {
    an_order_reads_back_as_written,
    an_order_is_written_by_its_organisation_only,
    orders_are_numbered_without_gaps,
    every_page_is_a_range_and_all_cover_each_order_once,
    a_page_far_past_the_end_is_empty,
    filters_and_sorts_agree_with_a_list_in_memory,
    an_order_is_finished_once,
    orders_are_leafed_through_by_number_and_by_reference,
    what_is_no_order_is_in_no_list_and_has_a_reference,
}

const STATUSES: [Status; 3] = [Status::Processing, Status::Completed, Status::Failed];
const FIRST: Page = Page { number: 1, size: 1_000 };

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// An order that is being processed, told from others by its number.
pub(crate) fn order(org: OrgId, n: u8) -> Order {
    Order {
        id: OrderId::new(at(1_000 + i64::from(n)), [n; 10]),
        org,
        reference: format!("0b6c1d1e-3f0a-4c55-9a0e-2f4b7c1d{n:04x}"),
        status: Status::Processing,
        status_message: PROCESSING.into(),
        target: Target::Esims,
        total: 100 * i64::from(n),
        test_credit: i64::from(n),
        running_balance: 5,
        source_ip: "192.0.2.7".into(),
        created_at: at(1_000 + i64::from(n)),
        finished_at: None,
        is_listed: true,
    }
}

fn item(kind: ItemKind, n: i64) -> Item {
    Item {
        kind,
        item: format!("esim_{n}GB"),
        quantity: n,
        sub_total: 10 * n,
        price_per_unit: 10,
        allow_reassign: n % 2 == 0,
    }
}

async fn add(store: &Store, order: Order) {
    let added = store.write(order.org, move |tx| orders::insert(tx, &order, &[])).await;
    assert_eq!(added, Ok::<_, StoreError>(()));
}

async fn list(
    store: &Store,
    org: OrgId,
    (filter, sort): (&Filter, Option<(SortBy, Direction)>),
    page: Page,
) -> (Vec<Order>, i64) {
    let filter = filter.clone();
    store.read(move |tx| orders::list(tx, org, &filter, sort, page)).await.expect("a list")
}

async fn an_order_reads_back_as_written(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let (first, second) = (
        Order {
            status: Status::Completed,
            status_message: "Order completed: 3 eSIMs assigned".into(),
            target: Target::Inventory,
            source_ip: String::new(),
            finished_at: Some(at(9)),
            ..order(org, 1)
        },
        order(org, 2),
    );
    let items: Vec<_> = ItemKind::ALL.into_iter().cycle().zip(1..=12).collect();
    let items: Vec<_> = items.into_iter().map(|(kind, n)| item(kind, n)).collect();
    let one = vec![item(ItemKind::Bundle, 300)];
    let checks = store.write(org, move |tx| {
        orders::insert(tx, &first, &items)?;
        orders::insert(tx, &second, &one)?;
        for order in [&first, &second] {
            let (reference, found) = (order.reference.as_str(), Some(order.clone()));
            assert_eq!(orders::find(tx, org, reference)?, found);
            assert_eq!(orders::find(tx, other, reference)?, None, "another organisation's");
            assert_eq!(orders::find_anywhere(tx, reference)?, found);
            assert_eq!(orders::find_by_id(tx, org, order.id)?, found);
            assert_eq!(orders::find_by_id(tx, other, order.id)?, None);
        }
        assert_eq!(orders::find_anywhere(tx, "nothing")?, None);
        let list = orders::list(tx, org, &Filter::default(), None, FIRST)?;
        assert_eq!(list, (vec![second.clone(), first.clone()], 2), "within the same write");
        assert_eq!(orders::items(tx, first.id)?, items);
        let all = orders::items_of(tx, &[second.id, first.id])?;
        let of = |id: OrderId| -> Vec<_> {
            all.iter().filter(|(order, _)| *order == id).map(|(_, item)| item.clone()).collect()
        };
        assert_eq!((of(first.id), of(second.id), all.len()), (items.clone(), one.clone(), 13));
        assert_eq!(orders::items_of(tx, &[])?, []);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}

async fn an_order_is_written_by_its_organisation_only(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    for writer in [OrgId::HOUSE, other] {
        let refused = store.write(writer, move |tx| orders::insert(tx, &order(org, 1), &[])).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }
    assert_eq!(list(&store, org, (&Filter::default(), None), FIRST).await, (vec![], 0));
    add(&store, order(org, 1)).await;
    let twin = Order { id: order(other, 2).id, org: other, ..order(org, 1) };
    let taken = store.write(other, move |tx| orders::insert(tx, &twin, &[])).await;
    assert!(taken.expect_err("taken").is_unique("orders(reference)"));
}

async fn orders_are_numbered_without_gaps(fixture: Fixture) {
    let store = fixture.store().await;
    let orgs = [new_org(&store, 1).await, new_org(&store, 2).await];
    let mut tasks = Vec::new();
    for n in 0..60_u8 {
        let (store, org) = (store.clone(), orgs[usize::from(n % 2)]);
        tasks.push(fixture.rt.task(async move {
            let written = store.write(org, move |tx| {
                orders::insert(tx, &order(org, n), &[])?;
                // Every third write is given up after all.
                if n % 3 == 0 { Err(StoreError::Busy) } else { Ok(()) }
            });
            written.await.is_ok()
        }));
    }
    let mut written = 0;
    for task in tasks {
        written += i64::from(task.await.expect("ran"));
    }
    assert_eq!(written, 40);
    for org in orgs {
        let numbers = store.read(move |tx| {
            let head = heads::find(tx, org)?.map_or(-1, |head| head.order_seq);
            let rows =
                tx.all("SELECT seq FROM orders WHERE org_id = $1 ORDER BY seq", args![org])?;
            let numbers = rows.iter().map(|row| row.int(0)).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, StoreError>((numbers, head))
        });
        assert_eq!(numbers.await, Ok(((1..=20).collect(), 20)));
    }
}

async fn every_page_is_a_range_and_all_cover_each_order_once(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    for n in 1..=7 {
        // Placed in an order that is neither that of the ids nor that of the times.
        add(&store, Order { created_at: at(500 - i64::from(n)), ..order(org, n * 5 % 8) }).await;
        add(&store, order(other, 100 + n)).await;
    }
    let newest_first: Vec<_> = (1..=7_u8).rev().map(|n| order(org, n * 5 % 8).id).collect();
    let all = Filter::default();
    // The same list by another way: a condition that everything passes, and no index by number.
    let every = NumberTest { comparison: Comparison::Gte, value: i64::MIN };
    let passing = Filter { total: vec![every], ..Filter::default() };
    for size in [1, 2, 3, 7, 10] {
        for filter in [&all, &passing] {
            let mut seen = Vec::new();
            let pages = Page { number: 1, size }.count(7);
            for number in 1..=pages {
                let (page, count) = list(&store, org, (filter, None), Page { number, size }).await;
                assert_eq!(count, 7);
                assert!(!page.is_empty() && page.len() <= usize::try_from(size).unwrap_or(0));
                seen.extend(page.into_iter().map(|order| order.id));
            }
            assert_eq!(seen, newest_first, "pages of {size}");
            let past = Page { number: pages + 1, size };
            assert_eq!(list(&store, org, (filter, None), past).await, (vec![], 7));
        }
    }
}

async fn a_page_far_past_the_end_is_empty(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let any = Filter { status: vec![TextTest::contains("ing")], ..Filter::default() };
    for count in [0, 1] {
        for filter in [&Filter::default(), &any] {
            for (number, size) in [(3, 10), (i64::MAX, 1), (i64::MAX, i64::MAX), (2, i64::MAX)] {
                let page = list(&store, org, (filter, None), Page { number, size }).await;
                assert_eq!(page, (vec![], count), "page {number} of {size}");
            }
        }
        add(&store, order(org, u8::try_from(count).expect("0 or 1"))).await;
    }
    let nobody = OrgId::new(at(1), [9; 10]);
    assert_eq!(list(&store, nobody, (&Filter::default(), None), FIRST).await, (vec![], 0));
}

/// Orders with many equal values, in the order of their numbers.
fn random_orders(rt: &Rt, org: OrgId, count: usize) -> Vec<Order> {
    let one = |_| {
        let [status, total, time, case, ..] = rt.random::<8>();
        let id = OrderId::new(at(i64::from(time)), rt.random());
        let reference = domain::hex(&rt.random::<8>());
        Order {
            id,
            org,
            reference: if case % 2 == 0 { reference.to_uppercase() } else { reference },
            status: STATUSES[usize::from(status % 3)],
            total: i64::from(total % 8) * 100 - 300,
            created_at: at(i64::from(time % 16)),
            ..order(org, 0)
        }
    };
    (0..count).map(one).collect()
}

fn number(comparison: Comparison, value: i64) -> NumberTest {
    NumberTest { comparison, value }
}

/// Every condition alone, and some together.
fn filters(sample: &Order) -> Vec<Filter> {
    use Comparison::{Eq, Gt, Gte, Lt, Lte};
    let mut filters = vec![Filter::default()];
    let mut status = |tests: Vec<TextTest>| {
        filters.push(Filter { status: tests, ..Filter::default() });
    };
    for one in STATUSES {
        status(vec![TextTest::Is(one.name().into())]);
    }
    status(vec![TextTest::Is("Processing".into())]);
    status(vec![TextTest::Is("processing".into()), TextTest::Is("failed".into())]);
    for part in ["ED", "ProcESSing", "", "%", "comp_eted"] {
        status(vec![TextTest::contains(part)]);
    }
    let mut reference = |test: TextTest| {
        filters.push(Filter { reference: vec![test], ..Filter::default() });
    };
    reference(TextTest::Is(sample.reference.clone()));
    reference(TextTest::Is(sample.reference.to_lowercase()));
    reference(TextTest::Is(String::new()));
    for part in ["a", "AB", "0", &sample.reference[3..9], "", "%", "' OR 1=1 --"] {
        reference(TextTest::contains(part));
    }
    for comparison in [Eq, Lt, Lte, Gt, Gte] {
        for value in [-300, 0, 100, 101, 9_999] {
            let total = vec![number(comparison, value)];
            filters.push(Filter { total, ..Filter::default() });
        }
        let created_at = vec![number(comparison, sample.created_at.ms())];
        filters.push(Filter { created_at, ..Filter::default() });
    }
    let range = vec![number(Gte, 4), number(Lt, 12)];
    filters.push(Filter { created_at: range.clone(), ..Filter::default() });
    filters.push(Filter {
        status: vec![TextTest::Is("processing".into())],
        reference: vec![TextTest::contains("a"), TextTest::contains("b")],
        total: vec![number(Gt, -300), number(Lte, 300)],
        created_at: range,
    });
    filters
}

fn passes(filter: &Filter, order: &Order) -> bool {
    filter.status.iter().all(|test| test.passes(order.status.name()))
        && filter.reference.iter().all(|test| test.passes(&order.reference))
        && filter.total.iter().all(|test| test.passes(order.total))
        && filter.created_at.iter().all(|test| test.passes(order.created_at.ms()))
}

/// What a list should be, from all orders in the order of their numbers.
fn expected(all: &[Order], filter: &Filter, sort: Option<(SortBy, Direction)>) -> Vec<Order> {
    let mut found: Vec<_> = all.iter().filter(|order| passes(filter, order)).cloned().collect();
    let (by, direction) = sort.unwrap_or((SortBy::CreatedAt, Direction::Descending));
    if sort.is_some() {
        // Stable: what is equal stays by number.
        match by {
            SortBy::CreatedAt => found.sort_by_key(|order| order.created_at),
            SortBy::Total => found.sort_by_key(|order| order.total),
            SortBy::Status => found.sort_by_key(|order| order.status.name()),
            SortBy::Reference => found.sort_by(|a, b| a.reference.cmp(&b.reference)),
        }
    }
    if direction == Direction::Descending {
        found.reverse();
    }
    found
}

async fn filters_and_sorts_agree_with_a_list_in_memory(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let rt = Rt::seeded(20_260_601, at(0));
    let (all, foreign) = (random_orders(&rt, org, 60), random_orders(&rt, other, 20));
    // Applies that are no orders, among them one that would be on every list.
    let hidden = random_orders(&rt, org, 5).into_iter().chain([order(org, 1)]);
    let hidden: Vec<_> = hidden.map(|order| Order { is_listed: false, ..order }).collect();
    for (owner, orders) in [(org, hidden), (org, all.clone()), (other, foreign)] {
        let added = store.write(owner, move |tx| {
            orders.iter().try_for_each(|order| orders::insert(tx, order, &[]))
        });
        assert_eq!(added.await, Ok::<_, StoreError>(()));
    }
    let mut sorts = vec![None];
    for by in [SortBy::CreatedAt, SortBy::Total, SortBy::Status, SortBy::Reference] {
        sorts.extend([Direction::Ascending, Direction::Descending].map(|way| Some((by, way))));
    }
    let mut sizes = BTreeSet::new();
    for filter in filters(&all[17]) {
        for sort in &sorts {
            let expected = expected(&all, &filter, *sort);
            let count = i64::try_from(expected.len()).expect("a small number");
            for page in [FIRST, Page { number: 2, size: 7 }] {
                let found = list(&store, org, (&filter, *sort), page).await;
                let wanted = (page.of(&expected).to_vec(), count);
                assert_eq!(found, wanted, "{filter:?} by {sort:?}, {page:?}");
            }
            sizes.insert(count);
        }
    }
    assert!(sizes.len() > 15, "the conditions tell orders apart: {sizes:?}");
}

async fn an_order_is_finished_once(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let done = Order { status: Status::Completed, finished_at: Some(at(3)), ..order(org, 2) };
    let (placed, unknown) = (order(org, 1), order(org, 9).id);
    let processing =
        Filter { status: vec![TextTest::Is("processing".into())], ..Filter::default() };
    add(&store, placed.clone()).await;
    add(&store, done.clone()).await;
    assert_eq!(list(&store, org, (&processing, None), FIRST).await, (vec![placed.clone()], 1));
    let (placed_id, done_id) = (placed.id, done.id);
    let finished = store.write(org, move |tx| {
        let finish = |tx: &mut store::Tx<'_>, id, status, message: &str, ms| {
            orders::finish(tx, id, status, message, at(ms))
        };
        assert!(finish(tx, placed_id, Status::Failed, FAILED, 7)?);
        assert!(!finish(tx, placed_id, Status::Completed, "Order completed", 8)?, "once");
        assert!(!finish(tx, done_id, Status::Failed, FAILED, 8)?, "it was done from the start");
        assert!(!finish(tx, unknown, Status::Failed, FAILED, 8)?);
        Ok::<_, StoreError>(())
    });
    assert_eq!(finished.await, Ok(()));
    let failed = Order {
        status: Status::Failed,
        status_message: FAILED.into(),
        finished_at: Some(at(7)),
        ..placed
    };
    let all = list(&store, org, (&Filter::default(), None), FIRST).await;
    assert_eq!(all, (vec![done, failed], 2));
    assert_eq!(list(&store, org, (&processing, None), FIRST).await, (vec![], 0));
}

async fn what_is_no_order_is_in_no_list_and_has_a_reference(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let hidden = move |n| Order { is_listed: false, ..order(org, n) };
    for placed in [hidden(1), order(org, 2), hidden(3), hidden(4), order(org, 5), hidden(6)] {
        add(&store, placed).await;
    }
    let listed = (vec![order(org, 5), order(org, 2)], 2);
    let all = Filter::default();
    let every = number(Comparison::Gte, i64::MIN);
    let filters = [
        Filter { status: vec![TextTest::Is("processing".into())], ..all.clone() },
        Filter { status: vec![TextTest::contains("proc")], ..all.clone() },
        Filter { reference: vec![TextTest::contains("0b6c")], ..all.clone() },
        Filter { total: vec![every], ..all.clone() },
        Filter { created_at: vec![every], ..all.clone() },
        all,
    ];
    for filter in &filters {
        for sort in [None, Some((SortBy::CreatedAt, Direction::Descending))] {
            assert_eq!(list(&store, org, (filter, sort), FIRST).await, listed, "{filter:?}");
            let second = Page { number: 2, size: 1 };
            let expected = (vec![order(org, 2)], 2);
            assert_eq!(list(&store, org, (filter, sort), second).await, expected, "{filter:?}");
        }
    }
    let named = Filter { reference: vec![TextTest::Is(hidden(3).reference)], ..Filter::default() };
    assert_eq!(list(&store, org, (&named, None), FIRST).await, (vec![], 0), "by its own name");
    let found = store.write(org, move |tx| {
        for n in [1, 3, 4, 6] {
            let (expected, hidden) = (Some(hidden(n)), hidden(n));
            assert_eq!(orders::find(tx, org, &hidden.reference)?, expected);
            assert_eq!(orders::find_anywhere(tx, &hidden.reference)?, expected);
            assert_eq!(orders::find_by_id(tx, org, hidden.id)?, expected);
        }
        let seq = heads::find(tx, org)?.map(|head| head.order_seq);
        let finished = orders::finish(tx, hidden(4).id, Status::Completed, "done", at(9))?;
        let finished = finished.then(|| orders::find_by_id(tx, org, hidden(4).id)).transpose()?;
        Ok::<_, StoreError>((seq, finished.flatten().map(|order| order.status)))
    });
    assert_eq!(found.await, Ok((Some(2), Some(Status::Completed))), "only orders are numbered");
}

async fn orders_are_leafed_through_by_number_and_by_reference(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    for n in 1..=7 {
        let status = STATUSES[usize::from(n) % 3];
        add(&store, Order { status, ..order(org, n) }).await;
    }
    let mine = order(org, 8);
    let checks = store.write(org, move |tx| {
        orders::insert(tx, &mine, &[item(ItemKind::Bundle, 2), item(ItemKind::Bundle, 3)])?;
        let mut numbers = |org, status, leaf, most| {
            let found = orders::leaf(tx, (org, status), leaf, most)?;
            Ok::<_, StoreError>(found.iter().map(|(number, _)| *number).collect::<Vec<_>>())
        };
        assert_eq!(numbers(org, None, Leaf::NewestOf(1, 8), 3)?, [8, 7, 6]);
        assert_eq!(numbers(org, None, Leaf::OldestOf(2, 8), 3)?, [4, 3, 2]);
        assert_eq!(numbers(org, None, Leaf::NewestOf(3, 4), 3)?, [4, 3]);
        assert_eq!(numbers(org, Some(Status::Completed), Leaf::NewestOf(1, 8), 9)?, [7, 4, 1]);
        assert_eq!(numbers(org, Some(Status::Failed), Leaf::OldestOf(3, 8), 9)?, [5]);
        assert_eq!(numbers(other, None, Leaf::NewestOf(1, 8), 9)?, [0; 0]);
        let reference = mine.reference.as_str();
        let called =
            |found: Vec<(i64, Order)>| found.into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(called(orders::called(tx, org, reference, 9)?), [8]);
        assert_eq!(called(orders::called(tx, org, &reference[..8], 3)?), [1, 2, 3]);
        assert_eq!(called(orders::called(tx, other, reference, 9)?), [0; 0]);
        let gist = Gist { kind: ItemKind::Bundle, item: "esim_2GB".into(), items: 2, quantity: 5 };
        assert_eq!(orders::gists(tx, &[mine.id, order(org, 1).id])?, [(mine.id, gist)]);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}
