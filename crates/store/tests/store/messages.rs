//! Text messages of the test centre, on both databases.

use domain::{Msisdn, Timestamp};
use store::messages::{self, Message};
use store::{StoreError, Tx};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::profiles::{LIVE, iccid, iccids, import, issue};

on_both! {
    messages_read_back_newest_first,
    a_message_is_found_and_forgotten_by_its_owner_only,
}

fn message(n: i64) -> Message {
    Message {
        to: Msisdn::parse(&format!("44770090{n:04}")).expect("a number"),
        sender: format!("Shop {n}"),
        body: format!("Grüße 👋 {n}\nzweite Zeile"),
        // Times run backwards: the order is that of being sent.
        at: Timestamp::from_ms(100 - n),
    }
}

async fn messages_read_back_newest_first(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=2).await;
    assert_eq!(issue(&store, org, LIVE, 2).await, Ok(iccids([1, 2])));
    let added = store.write(org, move |tx| {
        let mut ids = Vec::new();
        for n in 1..=5 {
            ids.push(messages::add(tx, org, &iccid(1), &message(n))?);
        }
        messages::add(tx, org, &iccid(2), &message(6))?;
        Ok::<_, StoreError>(ids)
    });
    assert!(added.await.expect("added").is_sorted_by(|a, b| a < b), "each its own number");
    let kept = store.write(other, move |tx| messages::add(tx, other, &iccid(1), &message(7))).await;
    assert!(kept.is_ok_and(|id| id > 0), "of an owner before");
    let read = store.read(move |tx| {
        let newest = |tx: &mut Tx<'_>, n, most| messages::newest(tx, org, &iccid(n), most);
        assert_eq!(newest(tx, 1, 9)?, [5, 4, 3, 2, 1].map(message));
        assert_eq!(newest(tx, 1, 2)?, [5, 4].map(message), "no more than asked for");
        assert_eq!(newest(tx, 2, 9)?, [message(6)]);
        assert_eq!(newest(tx, 3, 9)?, []);
        assert_eq!(messages::newest(tx, other, &iccid(1), 9)?, [message(7)]);
        Ok::<_, StoreError>(())
    });
    assert_eq!(read.await, Ok(()));
}

async fn a_message_is_found_and_forgotten_by_its_owner_only(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=2).await;
    assert_eq!(issue(&store, org, LIVE, 2).await, Ok(iccids([1, 2])));
    let checks = store.write(org, move |tx| {
        let first = messages::add(tx, org, &iccid(1), &message(1))?;
        let second = messages::add(tx, org, &iccid(2), &message(2))?;
        assert_eq!(messages::find(tx, org, first)?, Some((iccid(1), message(1))));
        assert_eq!(messages::find(tx, org, second)?, Some((iccid(2), message(2))));
        assert_eq!(messages::find(tx, other, first)?, None);
        assert_eq!(messages::find(tx, org, second + 1)?, None);
        messages::remove(tx, other, first)?;
        assert!(messages::find(tx, org, first)?.is_some(), "not by another");
        messages::remove(tx, org, first)?;
        messages::remove(tx, org, first)?;
        assert_eq!(messages::find(tx, org, first)?, None);
        assert_eq!(messages::find(tx, org, second)?, Some((iccid(2), message(2))));
        assert_eq!(messages::newest(tx, org, &iccid(1), 9)?, []);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}
