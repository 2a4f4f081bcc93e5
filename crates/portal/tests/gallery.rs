//! Every piece of the kit on one page, with ordinary figures, with none, with huge ones and with
//! hostile text. The pages are left in the target folder (`tmp/gallery`) for a person to look at;
//! here it is checked that they are sound.

#[path = "gallery/pages.rs"]
mod pages;
#[path = "gallery/tags.rs"]
mod tags;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use pages::{DEFUSED, HARM};
use tags::{Tag, tags};

#[test]
fn text_stays_text() {
    for (name, page) in pages::all() {
        assert!(!page.contains(HARM), "{name} lets markup through");
        assert!(!page.contains("<b "), "{name} lets a tag through");
        if name != "sheet" {
            assert!(page.contains(DEFUSED), "{name} shows what was written");
        }
    }
}

#[test]
fn nothing_needs_more_than_the_policy_allows() {
    for (name, page) in pages::all() {
        for tag in tags(&page) {
            assert_ne!(tag.name, "style", "{name}");
            assert!(tag.name != "script" || tag.value("src").is_some(), "{name}: inline script");
            for (attribute, _) in &tag.attributes {
                assert!(attribute != "style", "{name}: {tag:?}");
                assert!(!attribute.starts_with("on"), "{name}: {tag:?}");
            }
        }
        assert!(!page.contains("<script>"), "{name}");
    }
}

#[test]
fn every_input_has_a_label_and_every_id_is_unique() {
    for (name, page) in pages::all() {
        let all = tags(&page);
        let mut ids = HashSet::new();
        for id in all.iter().filter_map(|tag| tag.value("id")) {
            assert!(ids.insert(id), "{name}: {id} twice");
        }
        let labelled: HashSet<_> = all
            .iter()
            .filter(|tag| tag.name == "label")
            .filter_map(|tag| tag.value("for"))
            .collect();
        let mut in_label = false;
        for tag in &all {
            match tag.name.as_str() {
                "label" => in_label = true,
                "/label" => in_label = false,
                "input" | "select" | "textarea" => {
                    let named = in_label || is_named(tag, &labelled);
                    assert!(named, "{name}: {tag:?} has no label");
                }
                _ => {}
            }
            let described = tag.value("aria-describedby").unwrap_or_default();
            assert!(described.split(' ').all(|id| id.is_empty() || ids.contains(id)), "{tag:?}");
        }
    }
}

fn is_named(tag: &Tag, labelled: &HashSet<&str>) -> bool {
    tag.value("type") == Some("hidden")
        || tag.value("aria-label").is_some()
        || tag.value("id").is_some_and(|id| labelled.contains(id))
}

#[test]
fn every_button_picture_and_link_has_words() {
    for (name, page) in pages::all() {
        for tag in tags(&page) {
            match tag.name.as_str() {
                "img" => assert!(tag.value("alt").is_some(), "{name}: {tag:?}"),
                "a" => assert!(tag.value("href").is_some(), "{name}: {tag:?}"),
                "svg" => assert!(
                    tag.value("aria-hidden").is_some()
                        || tag.value("aria-label").is_some()
                        || tag.value("class") == Some("stretched"),
                    "{name}: {tag:?}"
                ),
                _ => {}
            }
        }
    }
}

#[test]
fn the_files_stay_small() {
    let tokens = include_str!("../assets/tokens.css");
    assert!(portal::kit::STYLE.len() - tokens.len() < 26 * 1024);
    assert!(portal::kit::SCRIPT.len() < 5 * 1024);
}

#[test]
fn the_pages_can_be_looked_at() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gallery");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("the target folder can be written");
    };
    write("style.css", portal::kit::STYLE);
    write("portal.js", portal::kit::SCRIPT);
    write("mark.svg", portal::kit::MARK);
    write("code.svg", pages::CODE);
    for (name, page) in pages::all() {
        let near = page.replace("\"/portal/style.css", "\"style.css");
        let near = near.replace("\"/portal/portal.js", "\"portal.js");
        write(&format!("{name}.html"), &near.replace("/portal/live", ""));
        let phone = format!("<body><iframe src=\"{name}.html\" width=390 height=2300></iframe>");
        write(&format!("{name}-phone.html"), &phone);
    }
}
