//! The tables, function by function, on both databases.

use domain::CallbackUrl;
use domain::contact::Email;
use domain::organisation::{
    Billing, CallbackVersion, Endpoint, Profile, Settings, TopupSettings, UsageEvents,
};
use domain::{
    AuditId, Currency, KeyId, Mode, OrgId, Organisation, Role, Secret, Timestamp, User, UserId,
};
use store::epochs::Epoch;
use store::keys::Key;
use store::{Sealed, StoreError, audit, epochs, heads, keys, organisations, settings, users};

use crate::fixture::{Fixture, new_org};
use crate::on_both;

on_both! {
    an_organisation_reads_back_as_written,
    organisations_page_by_key,
    keys_are_found_by_digest_and_one_is_primary,
    users_read_back_and_addresses_are_unique,
    the_audit_log_pages_from_the_newest,
    heads_read_back,
    epochs_move_and_settings_stay,
}

pub(crate) fn sample(org: OrgId) -> Organisation {
    Organisation {
        id: org,
        known_as: org,
        mode: Mode::Sandbox,
        currency: Currency::parse("EUR").expect("a currency"),
        created_at: Timestamp::from_ms(123),
        profile: Profile {
            name: "Häuser & Söhne".into(),
            addr1: "1 Quay".into(),
            notes: "two\nlines".into(),
            ..Profile::default()
        },
        settings: Settings {
            groups: vec!["Standard Fixed".into(), "Promo".into()],
            callback_url: Some(CallbackUrl::parse("https://shop.example/hook").expect("a URL")),
            callback_version: CallbackVersion::V3,
            usage_events: UsageEvents::Steps,
            senders: vec!["Shop".into()],
            ip_allow_list: vec!["192.0.2.0/24".into()],
            rate_limit: Some(7),
            topup: TopupSettings {
                minimum: Some(1),
                daily_maximum: Some(2),
                auto_threshold: Some(3),
                auto_amount: Some(4),
            },
            price_list: "Gold".into(),
            refund_days: 14,
            billing: Billing::Consumption,
            usage_steps: vec![1, 99],
            callback_events: vec!["LowBalance".into(), "FirstUse".into()],
            low_balance: Some(5),
        },
        endpoint: Endpoint::default(),
    }
}

async fn an_organisation_reads_back_as_written(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let written = sample(org);
    let expected = written.clone();
    let read = store
        .write(org, move |tx| {
            organisations::insert(tx, &written)?;
            organisations::find(tx, org)
        })
        .await;
    assert_eq!(read, Ok(Some(expected.clone())));
    let mut changed = expected;
    changed.profile.name = "Other".into();
    changed.settings = Settings::default();
    let update = changed.clone();
    let read = store
        .write(org, move |tx| {
            organisations::update(tx, &update)?;
            organisations::find(tx, org)
        })
        .await;
    assert_eq!(read, Ok(Some(changed)));
}

async fn organisations_page_by_key(fixture: Fixture) {
    let store = fixture.store().await;
    for n in 1..=5 {
        let org = new_org(&store, n).await;
        store.write(org, move |tx| organisations::insert(tx, &sample(org))).await.expect("added");
    }
    let (mut after, mut seen) = (OrgId::HOUSE, Vec::new());
    loop {
        let page: Result<_, StoreError> =
            store.read(move |tx| organisations::page(tx, after, 2)).await;
        let page = page.expect("a page");
        let Some(last) = page.last() else { break };
        after = last.id;
        seen.extend(page.into_iter().map(|organisation| organisation.id));
    }
    assert_eq!(seen.len(), 5);
    assert!(seen.is_sorted());
}

pub(crate) fn key(org: OrgId, n: u8, primary: bool) -> Key {
    let at = Timestamp::from_ms(i64::from(n));
    Key {
        id: KeyId::new(at, [n; 10]),
        org,
        label: format!("key {n}"),
        primary_at: primary.then_some(at),
        created_at: at,
        revoked_at: None,
    }
}

async fn keys_are_found_by_digest_and_one_is_primary(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let (first, second) = (key(org, 1, true), key(org, 2, false));
    let (one, two) = (first.id, second.id);
    let now = Timestamp::from_ms(99);
    let checks = store.write(org, move |tx| {
        let sealed = Sealed { bytes: vec![1, 2, 3], vault_key: "k1".into() };
        keys::insert(tx, &first, b"digest 1", &sealed)?;
        keys::insert(tx, &second, b"digest 2", &sealed)?;
        assert_eq!(keys::by_digest(tx, b"digest 2")?, Some(second.clone()));
        assert_eq!(keys::by_digest(tx, b"digest 3")?, None);
        assert_eq!(keys::find(tx, other, one)?, None, "another organisation's key");
        assert_eq!(keys::of_org(tx, org)?.len(), 2);
        assert_eq!(keys::count(tx, org)?, 2);
        assert!(!keys::revoke(tx, org, one, now)?, "the primary key stays");
        assert_eq!(keys::primary(tx, org)?, Some((one, sealed.clone())));
        assert!(keys::make_primary(tx, org, two, now)?);
        assert_eq!(keys::primary(tx, org)?, Some((two, sealed)));
        assert!(keys::revoke(tx, org, one, now)?);
        assert!(!keys::revoke(tx, org, one, now)?, "once is enough");
        assert_eq!(keys::count(tx, org)?, 1);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
    let second_primary = store
        .write(org, move |tx| {
            let sealed = Sealed { bytes: vec![], vault_key: "k1".into() };
            keys::insert(tx, &key(org, 3, true), b"digest 3", &sealed)
        })
        .await;
    assert!(second_primary.expect_err("only one").is_unique("keys(org_id)"));
}

async fn users_read_back_and_addresses_are_unique(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let email = Email::parse("ada@reseller.example").expect("an address");
    let user = User {
        id: UserId::new(Timestamp::from_ms(1), [1; 10]),
        first_name: "Ada".into(),
        last_name: "L".into(),
        role: Role::Owner,
        email: email.clone(),
        phone: String::new(),
        time_zone: "Europe/Paris".into(),
        password_hash: None,
        created_at: Timestamp::from_ms(1),
    };
    let (added, address) = (user.clone(), email.clone());
    let read = store
        .write(org, move |tx| {
            users::insert(tx, org, &added)?;
            let hash = Secret::new("hash".to_owned());
            assert!(users::set_password(tx, &address, &hash)?);
            assert!(!users::set_password(tx, &Email::parse("b@c").expect("one"), &hash)?);
            assert_eq!(users::count(tx, org)?, 1);
            users::of_org(tx, org)
        })
        .await;
    let expected = User { password_hash: Some(Secret::new("hash".into())), ..user.clone() };
    assert_eq!(read, Ok(vec![expected]));
    let twin = User { id: UserId::new(Timestamp::from_ms(2), [2; 10]), ..user };
    let taken = store.write(org, move |tx| users::insert(tx, org, &twin)).await;
    assert!(taken.expect_err("taken").is_unique(users::EMAIL_KEY));
}

async fn the_audit_log_pages_from_the_newest(fixture: Fixture) {
    let store = fixture.store().await;
    let entry = |n: u8| audit::Entry {
        id: AuditId::new(Timestamp::from_ms(i64::from(n)), [n; 10]),
        at: Timestamp::from_ms(i64::from(n)),
        actor: "cli".into(),
        action: "key.add".into(),
        org: n.is_multiple_of(2).then_some(OrgId::HOUSE),
        target: n.to_string(),
        detail: String::new(),
    };
    let pages = store.write(OrgId::HOUSE, move |tx| {
        for n in 1..=3 {
            audit::add(tx, &entry(n))?;
        }
        let first = audit::page(tx, None, 2)?;
        let second = audit::page(tx, Some(first[1].id), 2)?;
        Ok::<_, StoreError>((first, second))
    });
    assert_eq!(pages.await, Ok((vec![entry(3), entry(2)], vec![entry(1)])));
}

async fn heads_read_back(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let changed = store.write(org, |tx| {
        let head = tx.head_mut().expect("there");
        head.event_seq = 1;
        head.order_seq = 2;
        head.test_credit_since = Some(Timestamp::from_ms(3));
        head.test_credit_expires_at = Some(Timestamp::from_ms(4));
        head.clock_offset_ms = 5;
        head.held_at = Some(Timestamp::from_ms(6));
        head.esims = 7;
        head.short_told = 8;
        Ok::<_, StoreError>(head.clone())
    });
    let expected = changed.await.expect("changed");
    let read: Result<_, StoreError> = store.read(move |tx| heads::find(tx, org)).await;
    assert_eq!(read, Ok(Some(expected.clone())));
    assert_eq!(expected.clock(Timestamp::from_ms(10)), Timestamp::from_ms(15));
    let unknown: Result<_, StoreError> =
        store.read(|tx| heads::find(tx, OrgId::new(Timestamp::from_ms(0), [9; 10]))).await;
    assert_eq!(unknown, Ok(None));
}

async fn epochs_move_and_settings_stay(fixture: Fixture) {
    let store = fixture.store().await;
    let checks = store.write(OrgId::HOUSE, |tx| {
        for (epoch, other) in [(Epoch::Access, Epoch::Catalogue), (Epoch::Catalogue, Epoch::Access)]
        {
            let before = (epochs::read(tx, epoch)?, epochs::read(tx, other)?);
            epochs::bump(tx, epoch)?;
            let after = (epochs::read(tx, epoch)?, epochs::read(tx, other)?);
            assert_eq!(after, (before.0 + 1, before.1), "{epoch:?} moves, {other:?} does not");
        }
        assert_eq!(settings::find(tx, "proof")?, None);
        settings::put_first(tx, "proof", b"one")?;
        settings::put_first(tx, "proof", b"two")?;
        assert_eq!(settings::find(tx, "proof")?.as_deref(), Some(&b"one"[..]));
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}
