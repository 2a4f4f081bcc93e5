//! The pages of the gallery.

use domain::{Currency, Money, Timestamp};
use maud::{Markup, html};
use portal::kit::chart::{self, Bundle, Latency, Series, Share, Unit};
use portal::kit::figures;
use portal::kit::form::{self, Choice, Field, Kind};
use portal::kit::qr::{self, PerSheet};
use portal::kit::table::{self, Chip, Head, Pages, Row, Search, Table};
use portal::kit::{
    self, Area, Entry, Frame, Mood, Person, Said, Theme, facts, live, menu, menu_link, section,
    strip, tiles,
};

/// A tag that would do harm, and a sign that it was defused.
pub(crate) const HARM: &str = "<b onmouseover=\"harm\">";
pub(crate) const DEFUSED: &str = "&lt;b onmouseover=&quot;harm&quot;&gt;";

/// Stands in for a code.
pub(crate) const CODE: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 7 7'>\
    <path d='M0 0h3v3H0zM4 0h3v3H4zM0 4h3v3H0zM4 4h1v1H4zM6 5h1v2H6z'/></svg>";

const ICCID: &str = "8944478600004231909";
const HOUR_MS: i64 = 3_600_000;

fn now() -> Timestamp {
    Timestamp::from_ms(1_777_882_241_300)
}

/// Every page by its name.
pub(crate) fn all() -> Vec<(&'static str, String)> {
    let list = |theme| frame(theme, "eSIMs", None).page(Some(main_action()), list());
    let detail = |theme| {
        let said = Said { kind: Mood::Good, text: "The bundle was applied." };
        frame(theme, "eSIM 8944 …1909", Some(said)).page(Some(actions()), detail())
    };
    let charts = |theme| frame(theme, "Usage", None).page(None, charts());
    let pages = vec![
        ("list", list(Theme::Light)),
        ("list-dark", list(Theme::Dark)),
        ("detail", detail(Theme::Light)),
        ("detail-dark", detail(Theme::Dark)),
        ("charts", charts(Theme::Light)),
        ("charts-dark", charts(Theme::Dark)),
        ("forms", forms(Theme::Light)),
        ("forms-dark", forms(Theme::Dark)),
        ("signin", sign_in(Theme::Light)),
        ("hostile", hostile()),
        ("sheet", sheet()),
    ];
    pages.into_iter().map(|(name, page)| (name, page.into_string())).collect()
}

fn frame<'a>(theme: Theme, title: &'a str, said: Option<Said<'a>>) -> Frame<'a> {
    const ENTRIES: [Entry; 8] = [
        Entry { label: "Home", href: "/portal", area: Area::Home },
        Entry { label: "eSIMs", href: "/portal/esims", area: Area::Esims },
        Entry { label: "Catalogue", href: "/portal/catalogue", area: Area::Catalogue },
        Entry { label: "Inventory", href: "/portal/inventory", area: Area::Inventory },
        Entry { label: "Orders", href: "/portal/orders", area: Area::Orders },
        Entry { label: "Balance", href: "/portal/balance", area: Area::Money },
        Entry { label: "Developers", href: "/portal/developers", area: Area::Developers },
        Entry { label: "Settings", href: "/portal/settings", area: Area::Settings },
    ];
    Frame {
        title,
        organisation: "Nordwind Travel",
        person: Person { name: HARM, role: "Owner" },
        here: Area::Esims,
        entries: &ENTRIES,
        sandbox: true,
        said,
        csrf: "csrf-token",
        theme,
        path: "/portal/esims?q=<b",
        live: true,
    }
}

fn main_action() -> Markup {
    form::link_button(Kind::Main, "Order eSIMs", "/portal/catalogue")
}

fn list() -> Markup {
    const HEADS: [Head; 5] = [
        Head::text("ICCID"),
        Head::text("State"),
        Head::text("Reference"),
        Head::number("Data left"),
        Head::number("Last seen"),
    ];
    let moods = [
        (Mood::Good, "Active"),
        (Mood::Quiet, "Not installed"),
        (Mood::Warn, "Running low"),
        (Mood::Bad, "Revoked"),
        (Mood::Busy, "Being prepared"),
    ];
    let rows: Vec<Row> = (0..10_i64)
        .zip(moods.into_iter().cycle())
        .map(|(n, (mood, word))| {
            Row::link(
                format!("/portal/esims/{n}"),
                [
                    figures::iccid(ICCID),
                    figures::badge(mood, word),
                    html! { @if n == 3 { (HARM) } @else { "booking-" (1_000 + n * 7) } },
                    figures::bytes(n * n * n * 37_300_000),
                    figures::time(now().plus_ms(-n * n * 3 * HOUR_MS), now()),
                ],
            )
            .copying(ICCID)
        })
        .collect();
    let chip = |label: &str, on, count| Chip {
        label: label.to_owned(),
        href: "/portal/esims".to_owned(),
        on,
        count,
    };
    let chips = [
        chip("All", true, Some(12_480)),
        chip("Active", false, Some(9_201)),
        chip("Not installed", false, Some(3_100)),
        chip("Revoked", false, None),
    ];
    html! {
        (Search {
            action: "/portal/esims",
            value: "",
            hint: "ICCID, reference or group",
            kept: &[("state", HARM)],
            chips: &chips,
        })
        (table::results(Table::new("eSIMs", &HEADS, &rows).pages(Pages {
            previous: Some("?before=1"),
            next: Some("?after=9"),
            says: "51–60 of 12,480",
        })))
        (section("Nothing yet", None, table::empty(
            "No callbacks yet",
            "Callbacks tell your own service at once when an eSIM is installed or runs low, so \
             that nobody has to ask for it.",
            form::link_button(Kind::Main, "Add an address", "/portal/callbacks/new"),
            Some("curl -X POST https://tern.example/v2.5/callbacks \\\n  -H 'X-API-Key: …' \\\n  \
                  -d '{\"url\":\"https://you.example/hook\"}'"),
        )))
        (table::nothing_found("Nothing matches “xyz”.", "/portal/esims"))
    }
}

fn actions() -> Markup {
    let revoke = form::form(
        "/portal/esims/1/revoke",
        "csrf-token",
        Some("once-token"),
        form::button(Kind::Danger, "Revoke for good"),
    );
    menu(
        "Actions",
        &[
            menu_link("Apply a bundle", "/portal/esims/1/apply", "From the catalogue or inventory"),
            menu_link("Share with the traveller", "/portal/esims/1/share", ""),
            form::confirm(
                "Revoke",
                "The eSIM stops working within a minute and cannot come back. 1.2 GB that are left \
                 on it are lost.",
                revoke,
            ),
        ],
    )
}

fn bundle(name: &str, used: i64, total: Option<i64>, days: Option<(i64, i64)>) -> Markup {
    let valid = days.map(|(from, to)| (now().plus_days(from), now().plus_days(to)));
    chart::bundle(&Bundle { name, used, total, valid, now: now() })
}

fn detail() -> Markup {
    let usd = Currency::parse("USD").expect("a code");
    let month = days(30);
    let usage = Series { name: "Data used", unit: Unit::Bytes, points: &month };
    html! {
        (live("strip", strip(&[
            ("State", figures::badge(Mood::Good, "Active")),
            ("Data left", figures::bytes(3_200_000_000)),
            ("Installed", figures::time(now().plus_days(-12), now())),
            ("Next", html! { "Ends " (figures::time(now().plus_days(2), now())) }),
            ("Paid", figures::money(Money::minor(123_450, usd))),
        ])))
        (section("Bundles", Some(form::link_button(Kind::Plain, "Apply a bundle", "#")), html! {
            (bundle("Europe 5 GB, 30 days", 1_800_000_000, Some(5_000_000_000), Some((-12, 18))))
            (bundle("Japan 1 GB, 7 days", 930_000_000, Some(1_000_000_000), Some((-2, 5))))
            (bundle("Unlimited essential", 12_000_000_000, None, Some((-1, 2))))
            (bundle("Waiting", 0, Some(3_000_000_000), None))
            (bundle("Over", 3_000_000_000, Some(3_000_000_000), Some((-9, -2))))
        }))
        (section("Usage", None, chart::area(&usage)))
        (section("Details", None, tiles(&[
            facts(&[
                ("ICCID", figures::iccid_copy(ICCID)),
                ("Matching ID", figures::copyable("K2-1ABCDE-2FGHIJ", "matching ID")),
                ("Reference", html! { (HARM) }),
                ("Ordered", figures::exact(now().plus_days(-14))),
                ("Share of quota", figures::percent(18, 50)),
                ("Took", figures::duration(1_520)),
                ("Group", figures::none()),
                ("Trend", chart::sparkline(&usage)),
            ]),
            qr::card(qr::Card { src: "code.svg", iccid: ICCID, says: "Europe 5 GB, 30 days" }),
        ])))
    }
}

fn days(number: i64) -> Vec<(Timestamp, i64)> {
    let value = |day: i64| (day * day * 7_919 % 31) * 41_000_000 + day * 9_000_000;
    (0..number).map(|day| (now().start_of_day().plus_days(day - number + 1), value(day))).collect()
}

fn charts() -> Markup {
    let month = days(30);
    let count: Vec<_> = month.iter().map(|(at, value)| (*at, value / 90_000_000)).collect();
    let zeros: Vec<_> = month.iter().map(|(at, _)| (*at, 0)).collect();
    let huge = [(now().plus_days(-3), i64::MAX), (now().plus_days(-1), i64::MAX / 3), (now(), 5)];
    let series = |name, unit, points| Series { name, unit, points };
    let slow = |n: i64| Latency {
        at: now().plus_ms((n - 24) * HOUR_MS),
        p50: 38 + n * 13 % 11,
        p99: 120 + n * n * 31 % 170,
    };
    let latencies: Vec<_> = (0..24).map(slow).collect();
    let shares = [
        Share { word: "Active", mood: Mood::Good, count: 9_201 },
        Share { word: "Not installed", mood: Mood::Quiet, count: 3_100 },
        Share { word: "Running low", mood: Mood::Warn, count: 420 },
        Share { word: HARM, mood: Mood::Bad, count: 12 },
    ];
    html! {
        (tiles(&[
            chart::area(&series("Data used", Unit::Bytes, &month)),
            chart::bars(&series("Orders per day", Unit::Count, &count)),
            chart::latency("Answers of the API", &latencies),
            chart::states("eSIMs", &shares),
        ]))
        (section("Odd cases", None, tiles(&[
            chart::area(&series("No points", Unit::Bytes, &[])),
            chart::area(&series("One point", Unit::Bytes, &month[12..13])),
            chart::area(&series("All zeros", Unit::Count, &zeros)),
            chart::area(&series("Huge", Unit::Bytes, &huge)),
            chart::bars(&series("One bar", Unit::Count, &count[29..])),
            chart::bars(&series("No orders", Unit::Count, &zeros)),
            chart::bars(&series("Huge bars", Unit::Money(Currency::NONE), &huge)),
            chart::latency("One answer", &latencies[..1]),
            chart::latency("No answers", &[]),
            chart::states("None yet", &[Share { count: 0, ..shares[0] }]),
        ])))
        p {
            (chart::sparkline(&series("Month", Unit::Bytes, &month))) " "
            (chart::sparkline(&series("Zeros", Unit::Count, &zeros))) " "
            (chart::sparkline(&series("None", Unit::Count, &[]))) " "
            (chart::sparkline(&series("One", Unit::Count, &count[29..])))
        }
    }
}

fn fields() -> Markup {
    const ROLES: [Choice; 3] = [
        Choice { value: "owner", label: "Owner: everything" },
        Choice { value: "support", label: "Support: sees eSIMs, cannot buy" },
        Choice { value: "<b", label: HARM },
    ];
    html! {
        (form::refused("The person was not invited. Nothing was changed; correct the field below."))
        (Field::text("name", "Name").value(HARM).required().longest(80))
        (Field::email("email", "E-mail").value("ada@").required()
            .error(Some("This is not an e-mail address. Write it as name@example.com.")))
        (Field::password("password", "Password").required().complete("new-password")
            .hint("At least twelve characters."))
        (Field::number("quantity", "Quantity").value("12").bounds(Some(1), Some(100)))
        (Field::amount("limit", "Warn below").value("250.00").hint("In USD."))
        (Field::select("role", "Role", &ROLES).value("support").required())
        (Field::radio("access", "Access", &ROLES).value("owner").hint("Can be changed later."))
        (Field::textarea("note", "Note").value(HARM))
        (Field::checkbox("tell", "Tell them by e-mail", true).hint("One message, at once."))
        (form::buttons(&[form::button(Kind::Main, "Invite"),
            form::button_with(Kind::Plain, "Save for later", ("later", "yes")),
            form::button(Kind::Danger, "Remove")]))
    }
}

fn forms(theme: Theme) -> Markup {
    let said = Said { kind: Mood::Bad, text: "The key could not be revoked. It still works." };
    frame(theme, "Invite a person", Some(said)).page(
        None,
        html! {
            (Said { kind: Mood::Warn, text: "The balance is below 250.00 USD." })
            (form::form("/portal/team", "csrf-token", Some("once"), fields()))
            (form::confirm(
                "Remove the organisation",
                "All keys stop working. Nothing is refunded.",
                form::form("/x", "csrf-token", None, form::button(Kind::Danger, "Remove")),
            ))
        },
    )
}

fn sign_in(theme: Theme) -> Markup {
    let fields = html! {
        (Field::email("email", "E-mail").required().focus().complete("username").value(HARM))
        (Field::password("password", "Password").required().complete("current-password"))
        (form::button(Kind::Main, "Sign in"))
    };
    kit::plain_page("Sign in", theme, form::form("/portal/sign-in", "t", None, fields))
}

/// Harm wherever text can be put.
fn hostile() -> Markup {
    let heads = [Head::text(HARM), Head::number(HARM)];
    let rows = [Row::link(HARM, [html! { (HARM) }, html! { (HARM) }]).copying(HARM)];
    let chips = [Chip { label: HARM.into(), href: HARM.into(), on: true, count: None }];
    let points = [(now(), 1)];
    let series = Series { name: HARM, unit: Unit::Count, points: &points };
    let content = html! {
        (Search { action: HARM, value: HARM, hint: HARM, kept: &[(HARM, HARM)], chips: &chips })
        (Table::new(HARM, &heads, &rows)
            .pages(Pages { previous: Some(HARM), next: Some(HARM), says: HARM }))
        (section(HARM, Some(menu(HARM, &[menu_link(HARM, HARM, HARM)])), strip(&[
            (HARM, figures::badge(Mood::Good, HARM)),
            (HARM, figures::iccid_copy(HARM)),
            (HARM, figures::copyable(HARM, HARM)),
        ])))
        (table::empty(HARM, HARM, HARM, Some(HARM)))
        (tiles(&[chart::area(&series), chart::bars(&series), chart::sparkline(&series)]))
        (tiles(&[
            chart::latency(HARM, &[]),
            bundle(HARM, 1, Some(2), None),
            chart::states(HARM, &[Share { word: HARM, mood: Mood::Bad, count: 1 }]),
            qr::card(qr::Card { src: HARM, iccid: HARM, says: HARM }),
        ]))
        (form::form(HARM, HARM, Some(HARM), html! {
            (Field::text("<b", HARM).value(HARM).hint(HARM).error(Some(HARM)).within("<b"))
            (form::confirm(HARM, HARM, form::button_with(Kind::Main, HARM, (HARM, HARM))))
        }))
        (live(HARM, table::nothing_found(HARM, HARM)))
    };
    let said = Said { kind: Mood::Bad, text: HARM };
    Frame { organisation: HARM, csrf: HARM, path: HARM, ..frame(Theme::System, HARM, Some(said)) }
        .page(Some(form::link_button(Kind::Main, HARM, HARM)), content)
}

fn sheet() -> Markup {
    let card = qr::Card { src: "code.svg", iccid: ICCID, says: "Europe 5 GB, 30 days" };
    kit::print_page(
        "Codes",
        html! {
            (qr::sheets(PerSheet::Twelve, &[card; 13]))
            (qr::sheets(PerSheet::Six, &[card; 6]))
        },
    )
}
