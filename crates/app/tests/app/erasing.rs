//! Erasing an end user, whatever comes in between.

use std::slice::from_ref;

use app::erasure;
use app::esims::change::Change as Wanted;
use app::usage::Told;
use domain::Iccid;
use store::sql::Crash;

use crate::portal::{ME, in_france, request, start, tell};
use crate::world::{ALL, World};

const NOTE: &str = "Müller, Zimmer 4";

/// An eSIM with a note, a message and a place.
fn known_well(seed: u64) -> (World, Iccid) {
    let (world, iccid) = start(seed, "week");
    let (app, caller, keyless) = (world.app(), world.caller(), request(None));
    let note = Wanted::CustomerRef(NOTE.into());
    world.wait(app.change_esim(caller, (iccid.clone(), note), &keyless)).expect("noted");
    tell(&world, &iccid, "1", Told::Attached(in_france()));
    tell(&world, &iccid, "2", Told::Used { bytes: 3_000_000, place: Some(in_france()) });
    let message = app.send_sms(caller, iccid.clone(), (None, "hello".into()), &keyless);
    world.wait(message).expect("sent");
    (world, iccid)
}

fn found(world: &World, who: &str) -> Vec<Iccid> {
    let found = world.wait(world.app().end_user(world.org(), who)).expect("read");
    found.esims.into_iter().map(|esim| esim.iccid).collect()
}

fn places_told(world: &World) -> usize {
    let events = world.wait(world.app().events(world.caller(), 0, ALL)).expect("events");
    events.iter().filter(|one| one.data.contains("FR")).count()
}

fn countries(world: &World, iccid: &Iccid) -> usize {
    let org = world.org();
    let whose = iccid.clone();
    let sums =
        move |tx: &mut store::Tx<'_>| store::usage::span(tx, (org, Some(&whose)), (0, i64::MAX));
    let sums = world.wait(world.store().read(sums)).expect("sums");
    sums.iter().filter(|sum| !sum.country.is_empty()).count()
}

#[test]
fn an_interrupted_erasure_is_found_again_and_ends() {
    for crash in [Crash::BeforeCommit, Crash::AfterCommit] {
        let (mut world, iccid) = known_well(11);
        world.crash_at_next_commit(crash);
        let org = world.org();
        let cut = world.wait(world.app().erase_end_user(ME, org, vec![iccid.clone()]));
        assert!(cut.is_err(), "{cut:?}");
        world.restart();
        assert_eq!(found(&world, NOTE), from_ref(&iccid), "by what it was found by");
        let erased = world.wait(world.app().erase_end_user(ME, org, vec![iccid.clone()]));
        assert_eq!(erased.expect("erased"), 1);
        assert_eq!(found(&world, NOTE), []);
        assert_eq!((places_told(&world), countries(&world, &iccid)), (0, 0));
        let messages = world.wait(world.app().messages(world.caller(), &iccid)).expect("read");
        assert!(messages.is_some_and(|kept| kept.is_empty()));
        let log = world.wait(world.app().audit_of(org, None, ALL)).expect("a log");
        assert_eq!(log.iter().filter(|one| one.action == "enduser.erase").count(), 1);
    }
}

#[test]
fn an_esim_that_has_left_can_be_erased() {
    let (world, iccid) = known_well(12);
    let (app, org) = (world.app(), world.org());
    let deleted = (iccid.clone(), Wanted::Delete);
    world.wait(app.change_esim(world.caller(), deleted, &request(None))).expect("given up");
    assert_eq!(found(&world, NOTE), [], "the note is gone");
    let house =
        |tx: &mut store::Tx<'_>, iccid: &Iccid| store::esims::find(tx, domain::OrgId::HOUSE, iccid);
    let whose = iccid.clone();
    let left = world.wait(world.store().read(move |tx| house(tx, &whose))).expect("read");
    let left = left.expect("the house has it");
    assert_eq!((left.customer_ref.as_str(), left.msisdn, left.seen), ("", None, None));
    assert!(places_told(&world) > 0 && countries(&world, &iccid) > 0);
    assert_eq!(found(&world, iccid.as_str()), from_ref(&iccid));
    let others = world.wait(app.end_user(world.orgs[1], iccid.as_str())).expect("read");
    assert!(others.esims.is_empty());
    let refused = world.wait(app.erase_end_user(ME, world.orgs[1], vec![iccid.clone()]));
    assert!(matches!(refused, Err(erasure::Error::NotYourEsim)), "{refused:?}");
    let erased = world.wait(app.erase_end_user(ME, org, vec![iccid.clone()]));
    assert_eq!(erased.expect("erased"), 1);
    assert_eq!((places_told(&world), countries(&world, &iccid)), (0, 0));
}
