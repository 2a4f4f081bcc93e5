//! The stock of profiles and who gets them, on both databases.

use std::collections::BTreeSet;

use domain::assignment::State;
use domain::catalogue::PROFILE_NAME;
use domain::esim::{Esim, ProfileStatus};
use domain::{Iccid, Mode, Msisdn, OrderId, OrgId, Timestamp};
use store::profiles::{self, NewEsim};
use store::sql::Dialect;
use store::{Sealed, Store, StoreError, Tx, assignments, esims, heads, orders};

use crate::assignments::unit;
use crate::commerce::put_bundles;
use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::orders::order;

on_both! {
    an_import_says_which_profiles_are_new,
    profiles_are_issued_lowest_first_and_only_fitting_ones,
    no_more_are_issued_than_asked_for,
    nobody_gets_what_another_got,
    what_a_refused_write_issued_is_stock_again,
    a_failed_order_returns_its_own_profiles_only,
    only_the_owner_sees_a_profile,
    what_is_left_is_counted,
}

pub(crate) const LIVE: (Mode, &str) = (Mode::Live, PROFILE_NAME);

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

pub(crate) fn iccid(n: u64) -> Iccid {
    Iccid::parse(&format!("{}", 8_900_000_000_000_000_000 + n)).expect("19 digits")
}

pub(crate) fn profile(n: u64, profile_name: &str) -> NewEsim {
    let sealed = Sealed { bytes: n.to_be_bytes().to_vec(), vault_key: format!("k{}", n % 2) };
    let msisdn = Msisdn::parse(&format!("{}", 44_770_000_000 + n)).expect("a number");
    NewEsim {
        iccid: iccid(n),
        smdp_address: format!("smdp{n}.example"),
        sealed,
        msisdn: n.is_multiple_of(2).then_some(msisdn),
        profile_name: profile_name.into(),
    }
}

pub(crate) fn iccids(numbers: impl IntoIterator<Item = u64>) -> Vec<Iccid> {
    numbers.into_iter().map(iccid).collect()
}

pub(crate) async fn import(
    store: &Store,
    (mode, profile_name): (Mode, &'static str),
    numbers: impl IntoIterator<Item = u64>,
) -> Vec<Iccid> {
    let esims: Vec<_> = numbers.into_iter().map(|n| profile(n, profile_name)).collect();
    let new = store.write(OrgId::HOUSE, move |tx| profiles::import(tx, mode, &esims, at(1))).await;
    let mut new: Vec<Iccid> = new.expect("imported");
    new.sort();
    new
}

pub(crate) async fn issue(
    store: &Store,
    org: OrgId,
    kind: (Mode, &'static str),
    count: i64,
) -> Result<Vec<Iccid>, StoreError> {
    store.write(org, move |tx| profiles::issue(tx, org, kind, count, at(2))).await
}

/// The numbers among these that an organisation has.
async fn owned(store: &Store, org: OrgId, among: &[Iccid]) -> Vec<Iccid> {
    let among = among.to_vec();
    let esims = store.read(move |tx| esims::of_org(tx, org, &among)).await;
    let esims: Vec<Esim> = esims.expect("read");
    let mut owned: Vec<_> = esims.into_iter().map(|esim| esim.iccid).collect();
    owned.sort();
    owned
}

/// How many eSIMs the head of an organisation counts.
pub(crate) async fn counted(store: &Store, org: OrgId) -> i64 {
    let head = store.read(move |tx| heads::find(tx, org)).await;
    head.unwrap_or_else(|error: StoreError| panic!("{error}")).expect("a head").esims
}

async fn an_import_says_which_profiles_are_new(fixture: Fixture) {
    let store = fixture.store().await;
    assert_eq!(import(&store, LIVE, []).await, []);
    assert_eq!(import(&store, LIVE, [3, 1, 2]).await, iccids([1, 2, 3]));
    assert_eq!(import(&store, LIVE, [1, 2, 3]).await, []);
    assert_eq!(import(&store, LIVE, [2, 4, 3, 5]).await, iccids([4, 5]));
    // A number is one profile, whatever is said of it later.
    assert_eq!(import(&store, (Mode::Sandbox, "Profile 2"), [5, 6]).await, iccids([6]));
    let many = import(&store, LIVE, 0..1_000).await;
    assert_eq!(many, iccids([0].into_iter().chain(7..1_000)));
    let free = store.read(profiles::free).await;
    let expected =
        vec![(Mode::Live, PROFILE_NAME.to_owned(), 999), (Mode::Sandbox, "Profile 2".into(), 1)];
    assert_eq!(free, Ok(expected));
}

async fn profiles_are_issued_lowest_first_and_only_fitting_ones(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, [9, 4, 7, 2, 5]).await;
    import(&store, (Mode::Sandbox, PROFILE_NAME), [1, 6]).await;
    import(&store, (Mode::Live, "Profile 2"), [3, 8]).await;
    assert_eq!(issue(&store, org, LIVE, 0).await, Ok(vec![]));
    assert_eq!(issue(&store, org, LIVE, 2).await, Ok(iccids([2, 4])));
    assert_eq!(issue(&store, other, LIVE, 1).await, Ok(iccids([5])));
    assert_eq!(issue(&store, org, (Mode::Live, "Profile 2"), 1).await, Ok(iccids([3])));
    assert_eq!(issue(&store, org, (Mode::Sandbox, "Profile 2"), 1).await, Ok(vec![]));
    assert_eq!(issue(&store, other, (Mode::Sandbox, PROFILE_NAME), 9).await, Ok(iccids([1, 6])));
    assert_eq!(issue(&store, org, LIVE, 9).await, Ok(iccids([7, 9])), "fewer when short");
    assert_eq!(issue(&store, org, LIVE, 1).await, Ok(vec![]));
    assert_eq!(owned(&store, org, &iccids(1..10)).await, iccids([2, 3, 4, 7, 9]));
    assert_eq!(owned(&store, other, &iccids(1..10)).await, iccids([1, 5, 6]));
}

/// Also when the database takes the stock for smaller than it is, and so goes another way.
async fn no_more_are_issued_than_asked_for(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    import(&store, LIVE, [1]).await;
    fixture.script("ANALYZE").await;
    import(&store, LIVE, (2..=9).rev()).await;
    assert_eq!(issue(&store, org, LIVE, 1).await, Ok(iccids([1])));
    assert_eq!(issue(&store, org, LIVE, 2).await, Ok(iccids([2, 3])));
    fixture.script("ANALYZE").await;
    assert_eq!(issue(&store, org, LIVE, 4).await, Ok(iccids(4..=7)));
    assert_eq!(issue(&store, org, LIVE, 4).await, Ok(iccids([8, 9])));
}

/// Thirty-two times ten out of three hundred: on PostgreSQL by four nodes with two writers each.
async fn nobody_gets_what_another_got(fixture: Fixture) {
    let store = fixture.store().await;
    import(&store, LIVE, 0..300).await;
    let mut nodes = vec![store.clone()];
    if fixture.database.dialect() == Dialect::Postgres {
        nodes.extend((0..3).map(|_| Store::open(&fixture.database, &fixture.rt)));
    }
    let mut orgs = Vec::new();
    for n in 1..=8 {
        orgs.push(new_org(&store, n).await);
    }
    let mut tasks = Vec::new();
    for task in 0..32 {
        // Neighbours have different writers of their node, and no two nodes an organisation.
        let at = task % 8;
        let (node, org) = (nodes[at / 2 % nodes.len()].clone(), orgs[at]);
        tasks.push(fixture.rt.task(async move { (at, issue(&node, org, LIVE, 10).await) }));
    }
    let mut given: Vec<Vec<Iccid>> = vec![Vec::new(); 8];
    for task in tasks {
        let (at, issued) = task.await.expect("ran");
        let issued = issued.expect("issued");
        assert!(issued.len() <= 10, "{}", issued.len());
        given[at].extend(issued);
    }
    let distinct: BTreeSet<_> = given.iter().flatten().cloned().collect();
    assert_eq!(given.iter().map(Vec::len).sum::<usize>(), 300);
    assert_eq!(distinct.into_iter().collect::<Vec<_>>(), iccids(0..300));
    for (org, mut given) in orgs.into_iter().zip(given) {
        given.sort();
        assert_eq!(owned(&store, org, &iccids(0..300)).await, given);
        assert_eq!(usize::try_from(counted(&store, org).await), Ok(given.len()));
        assert_eq!(issue(&store, org, LIVE, 10).await, Ok(vec![]), "and then none");
    }
}

async fn what_a_refused_write_issued_is_stock_again(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    import(&store, LIVE, [1, 2, 3]).await;
    let refused: Result<(), StoreError> = store
        .write(org, move |tx| {
            assert_eq!(profiles::issue(tx, org, LIVE, 2, at(2))?, iccids([1, 2]));
            assert_eq!(profiles::issue(tx, org, LIVE, 2, at(2))?, iccids([3]));
            Err(StoreError::Busy)
        })
        .await;
    assert_eq!(refused, Err(StoreError::Busy));
    assert_eq!(counted(&store, org).await, 0, "nor counted");
    assert_eq!(issue(&store, org, LIVE, 5).await, Ok(iccids([1, 2, 3])));
}

/// A bundle of an order on an eSIM: the number of the eSIM, and whether it was issued for it.
fn put(
    tx: &mut Tx<'_>,
    (org, order): (OrgId, OrderId),
    on: &[(u64, bool)],
) -> Result<(), StoreError> {
    let units: Vec<_> = on.iter().zip(0..).map(|(on, n)| unit((0, n), iccid(on.0), on.1)).collect();
    assignments::insert(tx, (org, order), &units, State::Processing, at(3))
}

async fn a_failed_order_returns_its_own_profiles_only(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=6).await;
    assert_eq!(issue(&store, org, LIVE, 5).await, Ok(iccids(1..=5)));
    assert_eq!(issue(&store, other, LIVE, 1).await, Ok(iccids([6])));
    let (failed, later, foreign) = (order(org, 1), order(org, 2), order(other, 3));
    let foreign_id = foreign.id;
    let put_on_foreign = store.write(other, move |tx| {
        orders::insert(tx, &foreign, &[])?;
        put(tx, (other, foreign.id), &[(6, true)])
    });
    assert_eq!(put_on_foreign.await, Ok(()));
    let taken = store.write(org, move |tx| {
        orders::insert(tx, &failed, &[])?;
        orders::insert(tx, &later, &[])?;
        // 1: two bundles of the order. 2: carries another order's bundle too. 3: was named, not
        // issued for it. 4: another order's. 5: no bundle at all.
        put(tx, (org, failed.id), &[(1, true), (1, true), (2, true), (3, false)])?;
        put(tx, (org, later.id), &[(2, false), (4, true)])?;
        profiles::take_back(tx, org, failed.id)
    });
    assert_eq!(taken.await, Ok(()));
    assert_eq!(owned(&store, org, &iccids(1..=6)).await, iccids(2..=5));
    assert_eq!((counted(&store, org).await, counted(&store, other).await), (4, 1));
    assert_eq!(owned(&store, other, &iccids(1..=6)).await, iccids([6]));
    // It is stock like before, for anybody, and for whoever has it a profile like any other.
    assert_eq!(issue(&store, other, LIVE, 9).await, Ok(iccids([1])));
    let again = order(other, 4);
    let again = store.write(other, move |tx| {
        orders::insert(tx, &again, &[])?;
        put(tx, (other, again.id), &[(1, true)])?;
        profiles::take_back(tx, other, again.id)?;
        profiles::take_back(tx, other, foreign_id)
    });
    assert_eq!(again.await, Ok(()), "what it carried for its last owner does not hold it");
    assert_eq!(owned(&store, other, &iccids(1..=6)).await, []);
    assert_eq!(counted(&store, other).await, 0);
    assert_eq!(issue(&store, org, LIVE, 9).await, Ok(iccids([1, 6])));
    assert_eq!(counted(&store, org).await, 6);
}

async fn only_the_owner_sees_a_profile(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 0..600).await;
    assert_eq!(issue(&store, org, LIVE, 300).await, Ok(iccids(0..300)));
    assert_eq!(issue(&store, other, LIVE, 2).await, Ok(iccids([300, 301])));
    let all = iccids(0..600);
    assert_eq!(owned(&store, org, &all).await, iccids(0..300));
    assert_eq!(owned(&store, other, &all).await, iccids([300, 301]));
    assert_eq!(owned(&store, OrgId::HOUSE, &all).await, [], "stock is nobody's");
    assert_eq!(owned(&store, org, &[]).await, []);
    let seen = store.read(move |tx| {
        let esims = esims::of_org(tx, other, &iccids([299, 301, 302]))?;
        let mut installs = esims::install(tx, org, &iccids(0..600))?;
        installs.sort_by(|a, b| a.iccid.cmp(&b.iccid));
        Ok::<_, StoreError>((esims, installs, esims::install(tx, other, &iccids(0..300))?))
    });
    let (esims, installs, foreign) = seen.await.expect("read");
    let expected = Esim {
        iccid: iccid(301),
        profile_name: PROFILE_NAME.into(),
        status: ProfileStatus::Released,
        msisdn: profile(301, PROFILE_NAME).msisdn,
        customer_ref: String::new(),
        last_action: String::new(),
        action_at: None,
        assigned_at: at(2),
        first_installed_at: None,
        first_used_at: None,
        suspended_by: None,
        seen: None,
        leaves_at: None,
    };
    assert_eq!(esims, [expected]);
    assert!(foreign.is_empty());
    assert_eq!(installs.len(), 300);
    for (install, n) in installs.iter().zip(0..) {
        let NewEsim { iccid, smdp_address, sealed, .. } = profile(n, PROFILE_NAME);
        assert_eq!(
            (&install.iccid, &install.smdp_address, &install.sealed),
            (&iccid, &smdp_address, &sealed)
        );
        assert_eq!((install.status, install.first_installed_at), (ProfileStatus::Released, None));
    }
}

async fn what_is_left_is_counted(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    assert_eq!(store.read(profiles::free).await, Ok(vec![]));
    import(&store, (Mode::Sandbox, PROFILE_NAME), 20..25).await;
    import(&store, (Mode::Live, "Profile 2"), 10..12).await;
    import(&store, LIVE, 0..4).await;
    let has = async |kind: (Mode, &'static str), count: i64| {
        let has = store.read(move |tx| profiles::has(tx, kind, count)).await;
        has.expect("read")
    };
    for (kind, left) in
        [(LIVE, 4), ((Mode::Live, "Profile 2"), 2), ((Mode::Sandbox, PROFILE_NAME), 5)]
    {
        assert!(has(kind, 0).await && has(kind, left).await, "{kind:?}");
        assert!(!has(kind, left + 1).await, "{kind:?}");
    }
    assert!(!has((Mode::Sandbox, "Profile 2"), 1).await);
    assert_eq!(issue(&store, org, LIVE, 3).await, Ok(iccids(0..3)));
    assert!(has(LIVE, 1).await && !has(LIVE, 2).await);
    let expected = vec![
        (Mode::Live, PROFILE_NAME.to_owned(), 1),
        (Mode::Live, "Profile 2".to_owned(), 2),
        (Mode::Sandbox, PROFILE_NAME.to_owned(), 5),
    ];
    assert_eq!(store.read(profiles::free).await, Ok(expected));
}
