//! The page around everything: the rail, the title with the one main action, what was just said,
//! and the two smaller pages, one for a single card and one for the printer.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use super::{Mood, icon};

/// Where in the portal a page belongs; decides which entry of the rail is lit and its icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    Home,
    Esims,
    Catalogue,
    Inventory,
    Orders,
    Money,
    Usage,
    Callbacks,
    Developers,
    Team,
    Network,
    Organisations,
    Log,
    Settings,
    /// The person's own; reached from the menu of the person, not from the rail.
    Account,
}

/// An entry of the rail.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub label: &'a str,
    pub href: &'a str,
    pub area: Area,
}

/// Who is signed in.
#[derive(Debug, Clone, Copy)]
pub struct Person<'a> {
    pub name: &'a str,
    pub role: &'a str,
}

/// What is said at the top of a page, once, after something was done.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    pub kind: Mood,
    pub text: &'a str,
}

/// Light or dark, as the reader chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    /// All of them, in the order of the switch.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Reads the word in a cookie or a form; whatever is unknown follows the system.
    pub fn parse(word: &str) -> Self {
        Self::ALL.into_iter().find(|theme| theme.word() == word).unwrap_or_default()
    }

    /// The word for cookies, forms and `data-theme`.
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn attribute(self) -> Option<&'static str> {
        (self != Self::System).then(|| self.word())
    }
}

/// A page of the portal before it has content.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    pub title: &'a str,
    pub organisation: &'a str,
    pub person: Person<'a>,
    pub here: Area,
    /// At most eight.
    pub entries: &'a [Entry<'a>],
    pub sandbox: bool,
    pub said: Option<Said<'a>>,
    pub csrf: &'a str,
    pub theme: Theme,
    /// Path and query of this page: where the theme switch comes back to.
    pub path: &'a str,
    /// Whether parts of the page follow changes by themselves.
    pub live: bool,
}

impl Frame<'_> {
    /// The whole page. `action` is the one main action, or the menu of a detail page.
    pub fn page(&self, action: Option<Markup>, content: impl Render) -> Markup {
        let live = self.live.then_some("/portal/live");
        let body = html! {
            a.skip href="#content" { "Skip to content" }
            (self.rail())
            main #content tabindex="-1" {
                header.title {
                    h1 { (self.title) }
                    @if let Some(action) = action { div.does { (action) } }
                }
                @if let Some(said) = self.said { (said) }
                (content)
            }
        };
        document(self.title, self.theme, &html! { body.portal data-live=[live] { (body) } })
    }

    fn rail(&self) -> Markup {
        html! {
            header.rail {
                a.brand href="/portal" {
                    (icon::mark())
                    span { bdi { (self.organisation) } }
                }
                @if self.sandbox { p.sandbox title="Nothing here costs money" { "Sandbox" } }
                // Folded on a phone; the style keeps it open everywhere else.
                input.unfold #rail-open type="checkbox" aria-label="Show the menu";
                label.unfold for="rail-open" aria-hidden="true" { (icon::bars()) }
                div.folded {
                    nav aria-label="Portal" {
                        @for entry in self.entries {
                            @let here = (entry.area == self.here).then_some("page");
                            a href=(entry.href) aria-current=[here] {
                                (icon::of(entry.area)) span { (entry.label) }
                            }
                        }
                    }
                    (self.person())
                }
            }
        }
    }

    fn person(&self) -> Markup {
        let here = (self.here == Area::Account).then_some("page");
        html! {
            details.person {
                summary {
                    (icon::of(Area::Account))
                    span { bdi { (self.person.name) } small { (self.person.role) } }
                    (icon::chevron())
                }
                div {
                    a.item href="/portal/account" aria-current=[here] { "Your account" }
                    form.themes method="post" action="/portal/theme" {
                        input type="hidden" name="csrf" value=(self.csrf);
                        input type="hidden" name="back" value=(self.path);
                        @for theme in Theme::ALL {
                            @let pressed = if theme == self.theme { "true" } else { "false" };
                            button type="submit" name="theme" value=(theme.word())
                                aria-pressed=(pressed) { (theme.word()) }
                        }
                    }
                    form method="post" action="/portal/sign-out" {
                        input type="hidden" name="csrf" value=(self.csrf);
                        button.item type="submit" { "Sign out" }
                    }
                }
            }
        }
    }
}

impl Render for Said<'_> {
    fn render(&self) -> Markup {
        // Bad news interrupts; good news waits until the reader pauses.
        let role = if self.kind == Mood::Bad { "alert" } else { "status" };
        html! {
            p.said.(self.kind.class()) role=(role) { (self.kind.shape()) span { (self.text) } }
        }
    }
}

/// A page with one card in the middle: sign-in, errors, a share link.
pub fn plain_page(title: &str, theme: Theme, content: impl Render) -> Markup {
    let body = html! {
        body.plain {
            main #content {
                p.brand { (icon::mark()) span { "Tern" } }
                h1 { (title) }
                (content)
            }
        }
    };
    document(title, theme, &body)
}

/// A page for the printer: nothing but its content, black on white.
pub fn print_page(title: &str, content: impl Render) -> Markup {
    document(title, Theme::Light, &html! { body.paper { main #content { (content) } } })
}

fn document(title: &str, theme: Theme, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme.attribute()] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Telephones take long numbers for their own.
                meta name="format-detection" content="telephone=no";
                meta name="robots" content="noindex";
                title { (title) " · Tern" }
                link rel="stylesheet" href="/portal/style.css";
                link rel="icon" type="image/svg+xml" href="/portal/mark.svg";
                script src="/portal/portal.js" defer {}
            }
            (PreEscaped(&body.0))
        }
    }
}
