//! eSIMs that belong to somebody: lists, what is saved of them, whose they are, and how they leave,
//! on both databases.

use std::collections::{BTreeSet, HashMap};

use domain::assignment::State;
use domain::catalogue::PROFILE_NAME;
use domain::esim::{Esim, ProfileStatus, Seen, SuspendedBy};
use domain::filter::{Comparison, Direction, NumberTest, Page, TextTest};
use domain::{Iccid, Mode, Msisdn, OrgId, Timestamp};
use store::esims::{self, Filter, SortBy};
use store::{Rt, Store, StoreError, assignments, orders, profiles};

use crate::assignments::unit;
use crate::commerce::put_bundles;
use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::orders::order;
use crate::profiles::{LIVE, counted, iccid, iccids, import, issue, profile};

on_both! {
    the_head_counts_what_is_listed,
    filters_and_sorts_agree_with_a_list_in_memory,
    a_note_is_found_whatever_the_case_of_its_letters,
    every_page_is_another_part_of_the_list,
    an_esim_reads_back_as_saved,
    nothing_of_its_owner_goes_to_the_next,
    what_was_done_is_noted_on_those_alone,
    owners_are_told_and_the_house_is_nobody,
    what_has_left_is_nobodys_for_good,
    what_the_network_was_told_is_kept,
}

const FIRST: Page = Page { number: 1, size: 1_000 };
const BY_ICCID: (SortBy, Direction) = (SortBy::Iccid, Direction::Ascending);

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// An eSIM as it comes from the stock.
fn issued(n: u64) -> Esim {
    Esim {
        iccid: iccid(n),
        profile_name: PROFILE_NAME.into(),
        status: ProfileStatus::Released,
        msisdn: profile(n, PROFILE_NAME).msisdn,
        customer_ref: String::new(),
        last_action: String::new(),
        action_at: None,
        assigned_at: at(2),
        first_installed_at: None,
        first_used_at: None,
        suspended_by: None,
        seen: None,
        leaves_at: None,
    }
}

async fn save(store: &Store, org: OrgId, esims: &[Esim]) {
    let esims = esims.to_vec();
    let saved =
        store.write(org, move |tx| esims.iter().try_for_each(|esim| esims::save(tx, esim))).await;
    assert_eq!(saved, Ok::<_, StoreError>(()));
}

async fn list(
    store: &Store,
    org: OrgId,
    (filter, sort): (&Filter, (SortBy, Direction)),
    page: Page,
) -> (Vec<Esim>, i64) {
    let filter = filter.clone();
    let list = store.read(move |tx| esims::list(tx, org, &filter, sort, page)).await;
    list.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

/// The numbers in a list, and how many it says there are.
async fn listed(store: &Store, org: OrgId, filter: &Filter) -> (Vec<Iccid>, i64) {
    let (esims, count) = list(store, org, (filter, BY_ICCID), FIRST).await;
    (esims.into_iter().map(|esim| esim.iccid).collect(), count)
}

async fn find(store: &Store, org: OrgId, n: u64) -> Option<Esim> {
    let found = store.read(move |tx| esims::find(tx, org, &iccid(n))).await;
    found.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

/// A condition that everything passes, so that rows are counted and not the head asked.
fn passing() -> Filter {
    let every = NumberTest { comparison: Comparison::Gte, value: i64::MIN };
    Filter { assigned_at: vec![every], ..Filter::default() }
}

async fn the_head_counts_what_is_listed(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=9).await;
    let agree = async |org: OrgId, numbers: &[u64]| {
        let expected =
            (iccids(numbers.iter().copied()), i64::try_from(numbers.len()).expect("few"));
        assert_eq!(listed(&store, org, &Filter::default()).await, expected, "by the head");
        assert_eq!(listed(&store, org, &passing()).await, expected, "by the rows");
        assert_eq!(counted(&store, org).await, expected.1);
        let one_by_one = store.read(move |tx| esims::count(tx, org)).await;
        assert_eq!(one_by_one, Ok::<_, StoreError>(expected.1));
    };
    agree(org, &[]).await;
    assert_eq!(issue(&store, org, LIVE, 5).await, Ok(iccids(1..=5)));
    assert_eq!(issue(&store, other, LIVE, 1).await, Ok(iccids([6])));
    agree(org, &[1, 2, 3, 4, 5]).await;
    agree(other, &[6]).await;
    let placed = order(org, 1);
    let moved = store.write(org, move |tx| {
        orders::insert(tx, &placed, &[])?;
        let units: Vec<_> = (1..=2).map(|n| unit((0, n), iccid(n.unsigned_abs()), true)).collect();
        assignments::insert(tx, (org, placed.id), &units, State::Processing, at(3))?;
        profiles::take_back(tx, org, placed.id)?;
        profiles::take_back(tx, org, placed.id)?;
        esims::leave(tx, &iccid(4))?;
        profiles::issue(tx, org, LIVE, 1, at(4))?;
        // What is changed and not written yet counts already.
        esims::list(tx, org, &Filter::default(), BY_ICCID, FIRST)
    });
    let (within, count) = moved.await.unwrap_or_else(|error: StoreError| panic!("{error}"));
    let within: Vec<_> = within.into_iter().map(|esim| esim.iccid).collect();
    assert_eq!((within, count), (iccids([1, 3, 5]), 3));
    agree(org, &[1, 3, 5]).await;
    agree(other, &[6]).await;
    let refused: Result<(), StoreError> = store
        .write(org, move |tx| {
            esims::leave(tx, &iccid(3))?;
            Err(StoreError::Busy)
        })
        .await;
    assert_eq!(refused, Err(StoreError::Busy));
    agree(org, &[1, 3, 5]).await;
    let nobody = OrgId::new(at(1), [9; 10]);
    assert_eq!(listed(&store, nobody, &Filter::default()).await, (vec![], 0));
}

const NOTES: [&str; 10] = [
    "",
    "Älpler 7",
    "älpler 7",
    "ÄLPLER",
    "alpler",
    "Ωmega",
    "100%",
    "a_b",
    "Kunde\nzwei",
    "İstanbul",
];
const ACTIONS: [&str; 4] = ["", "Bundle Applied", "eSIM Updated", "eSIM Refreshed"];

/// eSIMs with many equal values, by number.
fn random_esims(rt: &Rt, count: u64) -> Vec<Esim> {
    let one = |n| {
        let [note, action, acted, assigned, ..] = rt.random::<8>().map(usize::from);
        let acted = i64::try_from(acted % 6).expect("small");
        Esim {
            customer_ref: NOTES[note % NOTES.len()].into(),
            last_action: ACTIONS[action % ACTIONS.len()].into(),
            // Some at the beginning of time, which is where those without a time are sorted.
            action_at: (acted > 1).then(|| at(acted - 2)),
            assigned_at: at(i64::try_from(assigned % 5).expect("small")),
            ..issued(n)
        }
    };
    (0..count).map(one).collect()
}

fn number(comparison: Comparison, value: i64) -> NumberTest {
    NumberTest { comparison, value }
}

/// Every condition alone, and some together.
fn filters(sample: &Esim) -> Vec<Filter> {
    use Comparison::{Eq, Gt, Gte, Lt, Lte};
    let all = Filter::default();
    let mut filters = vec![all.clone()];
    let texts = |words: &[&str]| -> Vec<TextTest> {
        let both = |word: &&str| [TextTest::Is((*word).into()), TextTest::contains(word)];
        words.iter().flat_map(both).collect()
    };
    let number_of = sample.iccid.as_str();
    for test in texts(&[number_of, &number_of[14..], "89", "x", "", "%"]) {
        filters.push(Filter { iccid: vec![test], ..all.clone() });
    }
    let words = ["ÄL", "äl", "AL", "Älpler 7", "ω", "Ω", "%", "_", "\n", "İST", "' OR 1=1 --", ""];
    for test in texts(&words) {
        filters.push(Filter { customer_ref: vec![test], ..all.clone() });
    }
    for test in texts(&["Bundle Applied", "bundle applied", "ESIM", "", "RE"]) {
        filters.push(Filter { last_action: vec![test], ..all.clone() });
    }
    for comparison in [Eq, Lt, Lte, Gt, Gte] {
        for value in [-1, 0, 2, 9] {
            let test = vec![number(comparison, value)];
            filters.push(Filter { action_at: test.clone(), ..all.clone() });
            filters.push(Filter { assigned_at: test, ..all.clone() });
        }
    }
    filters.push(Filter {
        iccid: vec![TextTest::contains("1"), TextTest::contains("00")],
        customer_ref: vec![TextTest::contains("L"), TextTest::contains("p")],
        last_action: vec![TextTest::contains("e")],
        action_at: vec![number(Gte, 0), number(Lt, 3)],
        assigned_at: vec![number(Gt, 0), number(Lte, 3)],
    });
    filters
}

fn passes(filter: &Filter, esim: &Esim) -> bool {
    let acted = |test: &NumberTest| esim.action_at.is_some_and(|at| test.passes(at.ms()));
    filter.iccid.iter().all(|test| test.passes(esim.iccid.as_str()))
        && filter.customer_ref.iter().all(|test| test.passes(&esim.customer_ref))
        && filter.last_action.iter().all(|test| test.passes(&esim.last_action))
        && filter.action_at.iter().all(acted)
        && filter.assigned_at.iter().all(|test| test.passes(esim.assigned_at.ms()))
}

/// What a list should be, from all eSIMs by number.
fn expected(all: &[Esim], filter: &Filter, (by, direction): (SortBy, Direction)) -> Vec<Esim> {
    let mut found: Vec<_> = all.iter().filter(|esim| passes(filter, esim)).cloned().collect();
    // Stable: what is equal stays by number.
    match by {
        SortBy::Iccid => {}
        SortBy::CustomerRef => found.sort_by(|a, b| a.customer_ref.cmp(&b.customer_ref)),
        SortBy::LastAction => found.sort_by(|a, b| a.last_action.cmp(&b.last_action)),
        SortBy::ActionAt => found.sort_by_key(|esim| esim.action_at.map_or(0, Timestamp::ms)),
        SortBy::AssignedAt => found.sort_by_key(|esim| esim.assigned_at),
    }
    if direction == Direction::Descending {
        found.reverse();
    }
    found
}

/// The eSIMs in the database of an organisation, each since its own moment.
async fn bring(store: &Store, org: OrgId, esims: &[Esim]) {
    let numbers: Vec<_> = esims.iter().map(|esim| esim.assigned_at).collect();
    let written = store.write(org, move |tx| {
        for since in &numbers {
            assert_eq!(profiles::issue(tx, org, LIVE, 1, *since)?.len(), 1);
        }
        Ok::<_, StoreError>(())
    });
    assert_eq!(written.await, Ok(()));
    save(store, org, esims).await;
}

async fn filters_and_sorts_agree_with_a_list_in_memory(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let rt = Rt::seeded(20_260_602, at(0));
    let everything = random_esims(&rt, 80);
    import(&store, LIVE, 0..80).await;
    let (all, foreign) = everything.split_at(60);
    bring(&store, org, all).await;
    bring(&store, other, foreign).await;
    let mut sorts = Vec::new();
    for by in [
        SortBy::Iccid,
        SortBy::CustomerRef,
        SortBy::LastAction,
        SortBy::ActionAt,
        SortBy::AssignedAt,
    ] {
        sorts.extend([(by, Direction::Ascending), (by, Direction::Descending)]);
    }
    let mut sizes = BTreeSet::new();
    for filter in filters(&all[17]) {
        for sort in &sorts {
            let expected = expected(all, &filter, *sort);
            let count = i64::try_from(expected.len()).expect("a small number");
            for page in [FIRST, Page { number: 2, size: 7 }] {
                let found = list(&store, org, (&filter, *sort), page).await;
                let wanted = (page.of(&expected).to_vec(), count);
                assert_eq!(found, wanted, "{filter:?} by {sort:?}, {page:?}");
            }
            sizes.insert(count);
        }
    }
    assert!(sizes.len() > 15, "the conditions tell eSIMs apart: {sizes:?}");
}

async fn a_note_is_found_whatever_the_case_of_its_letters(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    import(&store, LIVE, 1..=5).await;
    assert_eq!(issue(&store, org, LIVE, 5).await, Ok(iccids(1..=5)));
    let notes = ["KÄRNTEN", "kärnten", "Kärnten-Süd", "KARNTEN", "ЖУК жук"];
    let noted = |(n, note): (u64, &str)| Esim { customer_ref: note.into(), ..issued(n) };
    let esims: Vec<_> = (1..=5).zip(notes).map(noted).collect();
    save(&store, org, &esims).await;
    let found = async |test: TextTest| -> Vec<Iccid> {
        let filter = Filter { customer_ref: vec![test], ..Filter::default() };
        let (found, count) = listed(&store, org, &filter).await;
        assert_eq!(usize::try_from(count), Ok(found.len()));
        found
    };
    for part in ["Ärn", "äRN", "kärnten", "KÄRNTEN"] {
        assert_eq!(found(TextTest::contains(part)).await, iccids(1..=3), "{part}");
    }
    assert_eq!(found(TextTest::contains("SÜD")).await, iccids([3]));
    assert_eq!(found(TextTest::contains("arn")).await, iccids([4]));
    assert_eq!(found(TextTest::contains("ук Ж")).await, iccids([5]));
    assert_eq!(found(TextTest::Is("kärnten".into())).await, iccids([2]), "exactly");
    assert_eq!(found(TextTest::Is("KÄRNTEN".into())).await, iccids([1]), "exactly");
    // What is written anew is found by its new words only.
    save(&store, org, &[Esim { customer_ref: "Öse".into(), ..issued(1) }]).await;
    assert_eq!(found(TextTest::contains("ärn")).await, iccids([2, 3]));
    assert_eq!(found(TextTest::contains("ÖSE")).await, iccids([1]));
}

async fn every_page_is_another_part_of_the_list(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=9).await;
    assert_eq!(issue(&store, org, LIVE, 7).await, Ok(iccids(1..=7)));
    assert_eq!(issue(&store, other, LIVE, 2).await, Ok(iccids([8, 9])));
    let numbers = store.read(move |tx| {
        let mut pages = Vec::new();
        for after in [String::new(), iccid(3).as_str().into(), iccid(7).as_str().into()] {
            pages.push(esims::iccids(tx, org, &after, 3)?);
        }
        Ok::<_, StoreError>(pages)
    });
    assert_eq!(numbers.await, Ok(vec![iccids(1..=3), iccids(4..=6), vec![]]), "by key");
    let sorts = [BY_ICCID, (SortBy::ActionAt, Direction::Descending)];
    for (sort, size) in sorts.into_iter().flat_map(|sort| [1, 2, 3, 7, 10].map(|size| (sort, size)))
    {
        for filter in [Filter::default(), passing()] {
            let pages = Page { number: 1, size }.count(7);
            let mut seen = Vec::new();
            for number in 1..=pages {
                let (page, count) = list(&store, org, (&filter, sort), Page { number, size }).await;
                assert_eq!(count, 7);
                seen.extend(page.into_iter().map(|esim| esim.iccid));
            }
            if sort.1 == Direction::Descending {
                seen.reverse();
            }
            assert_eq!(seen, iccids(1..=7), "pages of {size} by {sort:?}");
            for number in [pages + 1, i64::MAX] {
                let past = list(&store, org, (&filter, sort), Page { number, size }).await;
                assert_eq!(past, (vec![], 7), "page {number} of {size}");
            }
        }
    }
}

/// An eSIM with something in every field, of the n-th kind.
fn full(n: u64) -> Esim {
    let ms = 100 * i64::try_from(n).expect("small");
    let network = if n.is_multiple_of(2) { "" } else { "DEUD1" };
    Esim {
        status: ProfileStatus::ALL[usize::try_from(n).expect("small") % 5],
        msisdn: Some(Msisdn::parse(&format!("{}", 33_600_000_000 + n)).expect("a number")),
        customer_ref: format!("Kunde “{n}”\nzweite Zeile"),
        last_action: "eSIM Updated".into(),
        action_at: Some(at(ms + 1)),
        first_installed_at: Some(at(ms + 2)),
        first_used_at: Some(at(ms + 3)),
        suspended_by: Some([SuspendedBy::Owner, SuspendedBy::Policy][usize::from(n > 2)]),
        seen: Some(Seen { at: at(ms + 4), country: "US-HI".into(), network: network.into() }),
        leaves_at: Some(at(ms + 5)),
        ..issued(n)
    }
}

async fn an_esim_reads_back_as_saved(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=6).await;
    assert_eq!(issue(&store, org, LIVE, 6).await, Ok(iccids(1..=6)));
    let mut expected: Vec<_> = (1..=5).map(full).collect();
    save(&store, org, &expected).await;
    expected.push(issued(6));
    // What was there can be missing again.
    save(&store, org, &[Esim { msisdn: None, ..issued(4) }]).await;
    expected[3] = Esim { msisdn: None, ..issued(4) };
    for (esim, n) in expected.iter().zip(1_u64..) {
        assert_eq!(find(&store, org, n).await.as_ref(), Some(esim));
        assert_eq!(find(&store, other, n).await, None, "another organisation's");
        let detail = store.read(move |tx| {
            assert!(esims::detail(tx, other, &iccid(n))?.is_none());
            esims::detail(tx, org, &iccid(n))
        });
        let detail = detail.await.unwrap_or_else(|error: StoreError| panic!("{error}"));
        let (found, install) = detail.expect("issued");
        assert_eq!((&found, &install.iccid), (esim, &esim.iccid));
        let from_stock = profile(n, PROFILE_NAME);
        assert_eq!(install.smdp_address, from_stock.smdp_address);
        assert_eq!(install.sealed, from_stock.sealed);
        assert_eq!(install.status, esim.status);
        assert_eq!(install.first_installed_at, esim.first_installed_at);
    }
    assert_eq!(find(&store, org, 7).await, None, "nobody's");
    let read = store.read(move |tx| {
        let mut of_org = esims::of_org(tx, org, &iccids(0..9))?;
        of_org.sort_by(|a, b| a.iccid.cmp(&b.iccid));
        let mut installs = esims::install(tx, org, &iccids(0..9))?;
        installs.sort_by(|a, b| a.iccid.cmp(&b.iccid));
        let installs = installs.into_iter();
        let installs = installs.map(|one| (one.iccid, one.status, one.first_installed_at));
        Ok::<_, StoreError>((of_org, installs.collect::<Vec<_>>()))
    });
    let (of_org, installs) = read.await.expect("read");
    let facts = |esim: &Esim| (esim.iccid.clone(), esim.status, esim.first_installed_at);
    assert_eq!(installs, expected.iter().map(facts).collect::<Vec<_>>());
    assert_eq!(of_org, expected);
    assert_eq!(list(&store, org, (&Filter::default(), BY_ICCID), FIRST).await, (expected, 6));
}

/// The order it was issued for fails after its owner has made it his own.
async fn nothing_of_its_owner_goes_to_the_next(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, [1]).await;
    assert_eq!(issue(&store, org, LIVE, 1).await, Ok(iccids([1])));
    let noted = Esim {
        customer_ref: "Geheim".into(),
        status: ProfileStatus::Released,
        msisdn: issued(1).msisdn,
        first_installed_at: None,
        ..full(1)
    };
    save(&store, org, &[noted]).await;
    let failed = order(org, 1);
    let taken = store.write(org, move |tx| {
        orders::insert(tx, &failed, &[])?;
        let units = [unit((0, 0), iccid(1), true)];
        assignments::insert(tx, (org, failed.id), &units, State::Processing, at(3))?;
        profiles::take_back(tx, org, failed.id)
    });
    assert_eq!(taken.await, Ok::<_, StoreError>(()));
    assert_eq!(issue(&store, other, LIVE, 1).await, Ok(iccids([1])));
    assert_eq!(find(&store, other, 1).await, Some(issued(1)));
    let note = Filter { customer_ref: vec![TextTest::contains("geheim")], ..Filter::default() };
    assert_eq!(listed(&store, other, &note).await, (vec![], 0), "not by a search either");
}

async fn what_was_done_is_noted_on_those_alone(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    import(&store, LIVE, 0..400).await;
    assert_eq!(issue(&store, org, LIVE, 400).await, Ok(iccids(0..400)));
    save(&store, org, &[full(3)]).await;
    // More than one statement holds, some named twice.
    let acted = store.write(org, move |tx| {
        let on = iccids((0..300).chain([5, 5]));
        esims::acted(tx, &on, "Bundle Applied", at(77))?;
        esims::acted(tx, &[], "eSIM Refreshed", at(78))
    });
    assert_eq!(acted.await, Ok::<_, StoreError>(()));
    let (esims, _) = list(&store, org, (&Filter::default(), BY_ICCID), FIRST).await;
    let done = |esim: Esim| {
        let (last_action, action_at) = ("Bundle Applied".into(), Some(at(77)));
        // Whatever is put on it, it stays.
        Esim { last_action, action_at, leaves_at: None, ..esim }
    };
    let expected = (0..400).map(|n| match n {
        3 => done(full(3)),
        0..300 => done(issued(n)),
        _ => issued(n),
    });
    assert_eq!(esims, expected.collect::<Vec<_>>());
}

async fn owners_are_told_and_the_house_is_nobody(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 0..310).await;
    assert_eq!(issue(&store, org, LIVE, 300).await, Ok(iccids(0..300)));
    assert_eq!(issue(&store, other, LIVE, 2).await, Ok(iccids([300, 301])));
    let left = store.write(org, move |tx| esims::leave(tx, &iccid(7))).await;
    assert_eq!(left, Ok::<_, StoreError>(()));
    let told = store.read(move |tx| {
        let mut one_by_one = HashMap::new();
        for n in 0..320 {
            one_by_one.extend(esims::owner(tx, &iccid(n))?.map(|owner| (iccid(n), owner)));
        }
        let none = esims::owners(tx, &[])?;
        Ok::<_, StoreError>((one_by_one, esims::owners(tx, &iccids(0..320))?, none))
    });
    let (one_by_one, together, none) = told.await.expect("read");
    let owner = |n: u64| (iccid(n), if n < 300 { org } else { other });
    let expected: HashMap<_, _> = (0..302).filter(|n| *n != 7).map(owner).collect();
    assert_eq!(together, expected);
    assert_eq!(one_by_one, expected);
    assert_eq!(none, HashMap::new());
}

async fn what_has_left_is_nobodys_for_good(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let org = new_org(&store, 1).await;
    import(&store, LIVE, 1..=2).await;
    assert_eq!(issue(&store, org, LIVE, 2).await, Ok(iccids([1, 2])));
    let placed = order(org, 1);
    let id = placed.id;
    let left = store.write(org, move |tx| {
        orders::insert(tx, &placed, &[])?;
        let units = [unit((0, 0), iccid(1), true), unit((0, 1), iccid(2), true)];
        assignments::insert(tx, (org, placed.id), &units, State::Processing, at(3))?;
        esims::leave(tx, &iccid(1))
    });
    assert_eq!(left.await, Ok::<_, StoreError>(()));
    assert_eq!(find(&store, org, 1).await, None);
    assert_eq!(listed(&store, org, &Filter::default()).await, (iccids([2]), 1));
    assert_eq!(find(&store, org, 2).await, Some(issued(2)), "its neighbour stays");
    let gone = store.read(move |tx| {
        assert!(esims::detail(tx, org, &iccid(1))?.is_none());
        assert_eq!(esims::owner(tx, &iccid(1))?, None);
        assert_eq!(esims::of_org(tx, org, &iccids([1, 2]))?.len(), 1);
        assert_eq!(esims::install(tx, org, &iccids([1, 2]))?.len(), 1);
        assert_eq!(profiles::free(tx)?, []);
        esims::find(tx, OrgId::HOUSE, &iccid(1))
    });
    let gone: Option<Esim> = gone.await.unwrap_or_else(|error: StoreError| panic!("{error}"));
    assert!(gone.is_some_and(|esim| esim.is_deactivated()));
    // Neither the failure of its order nor another import makes it stock again.
    let failed = store.write(org, move |tx| profiles::take_back(tx, org, id)).await;
    assert_eq!(failed, Ok::<_, StoreError>(()));
    assert_eq!(counted(&store, org).await, 0);
    assert_eq!(import(&store, LIVE, [1]).await, []);
    assert_eq!(issue(&store, org, LIVE, 9).await, Ok(iccids([2])));
    let sandbox = store.read(|tx| profiles::of_other_mode(tx, Mode::Sandbox, &iccids([1]))).await;
    assert_eq!(sandbox, Ok::<_, StoreError>(iccids([1])), "it is still known");
}

async fn what_the_network_was_told_is_kept(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    import(&store, LIVE, 1..=2).await;
    assert_eq!(issue(&store, org, LIVE, 2).await, Ok(iccids([1, 2])));
    let told = store.write(org, move |tx| {
        let before = esims::service(tx, &iccid(1))?;
        esims::put_service(tx, &iccid(1), "full")?;
        esims::save(tx, &full(1))?;
        Ok::<_, StoreError>((
            before,
            esims::service(tx, &iccid(1))?,
            esims::service(tx, &iccid(2))?,
        ))
    });
    assert_eq!(told.await, Ok((String::new(), "full".into(), String::new())));
}
