//! Lists: rows that are links, a search field with chips whose state is in the address, pages by
//! key, and what stands there while there is nothing to list.

use maud::{Markup, Render, html};

use super::{figures, icon};

/// The head of a column.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    label: &'a str,
    number: bool,
}

impl<'a> Head<'a> {
    /// A column of words.
    pub const fn text(label: &'a str) -> Self {
        Self { label, number: false }
    }

    /// A column of figures: at the right, digits below digits.
    pub const fn number(label: &'a str) -> Self {
        Self { label, number: true }
    }

    fn class(&self) -> Option<&'static str> {
        self.number.then_some("number")
    }
}

/// A row. Its cells are markup made with [`figures`] or `html!`.
#[derive(Debug, Clone)]
#[must_use]
pub struct Row {
    href: Option<String>,
    copy: Option<String>,
    cells: Vec<Markup>,
}

impl Row {
    /// A row that leads to what it is about. Its first cell is the link, so it holds no button.
    pub fn link(href: impl Into<String>, cells: impl Into<Vec<Markup>>) -> Self {
        Self { href: Some(href.into()), copy: None, cells: cells.into() }
    }

    /// A row that leads nowhere.
    pub fn plain(cells: impl Into<Vec<Markup>>) -> Self {
        Self { href: None, copy: None, cells: cells.into() }
    }

    /// Puts a button beside the first cell that copies this, such as an ICCID.
    pub fn copying(self, text: impl Into<String>) -> Self {
        Self { copy: Some(text.into()), ..self }
    }
}

/// A list.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Table<'a> {
    name: &'a str,
    heads: &'a [Head<'a>],
    rows: &'a [Row],
    pages: Pages<'a>,
}

/// Where the neighbouring pages are, and what to say between them, such as `1–50 of 12,000`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pages<'a> {
    pub previous: Option<&'a str>,
    pub next: Option<&'a str>,
    pub says: &'a str,
}

impl<'a> Table<'a> {
    /// A table by the name of what it lists.
    pub fn new(name: &'a str, heads: &'a [Head<'a>], rows: &'a [Row]) -> Self {
        Self { name, heads, rows, pages: Pages::default() }
    }

    /// With its neighbours.
    pub fn pages(self, pages: Pages<'a>) -> Self {
        Self { pages, ..self }
    }

    fn row(&self, row: &Row) -> Markup {
        html! {
            tr.link[row.href.is_some()] role="row" {
                @for (place, (head, cell)) in self.heads.iter().zip(&row.cells).enumerate() {
                    @if place == 0 {
                        th.copying[row.copy.is_some()].number[head.number] scope="row"
                            role="rowheader" { (first(row, cell)) }
                    } @else {
                        td role="cell" class=[head.class()] data-label=(head.label) { (cell) }
                    }
                }
            }
        }
    }
}

/// Roles are named although they are those of the elements: on a phone a row is laid out as a
/// card, and some browsers then forget that this is a table.
impl Render for Table<'_> {
    fn render(&self) -> Markup {
        html! {
            // A group: its section is a landmark of the same name already.
            div.region role="group" aria-label=(self.name) tabindex="0" {
                table.list role="table" {
                    thead role="rowgroup" {
                        tr role="row" {
                            @for head in self.heads {
                                th scope="col" role="columnheader" class=[head.class()] {
                                    (head.label)
                                }
                            }
                        }
                    }
                    tbody role="rowgroup" { @for row in self.rows { (self.row(row)) } }
                }
            }
            (self.pages)
        }
    }
}

impl Render for Pages<'_> {
    fn render(&self) -> Markup {
        if self.previous.is_none() && self.next.is_none() && self.says.is_empty() {
            return html! {};
        }
        html! {
            nav.pages aria-label="Pages" {
                span { (self.says) }
                @if let Some(href) = self.previous {
                    a.button.plain href=(href) rel="prev" aria-keyshortcuts="p" {
                        "Previous " kbd { "p" }
                    }
                }
                @if let Some(href) = self.next {
                    a.button.plain href=(href) rel="next" aria-keyshortcuts="n" {
                        "Next " kbd { "n" }
                    }
                }
            }
        }
    }
}

fn first(row: &Row, cell: &Markup) -> Markup {
    html! {
        @match &row.href {
            Some(href) => a.row href=(href) { (cell) },
            None => (cell),
        }
        @if let Some(text) = &row.copy { (figures::copy_button(text, text)) }
    }
}

/// A choice above a list: a link to the same list, narrowed.
#[derive(Debug, Clone)]
pub struct Chip {
    pub label: String,
    pub href: String,
    pub on: bool,
    pub count: Option<i64>,
}

/// The search field above a list and its chips.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The address of the list.
    pub action: &'a str,
    /// What is searched for now; sent as `q`.
    pub value: &'a str,
    /// What can be searched for: `ICCID, reference or group`.
    pub hint: &'a str,
    /// What else the address holds and must keep.
    pub kept: &'a [(&'a str, &'a str)],
    pub chips: &'a [Chip],
}

impl Render for Search<'_> {
    fn render(&self) -> Markup {
        html! {
            div.filter {
                form.search method="get" action=(self.action) role="search" data-search {
                    @for (name, value) in self.kept {
                        input type="hidden" name=(name) value=(value);
                    }
                    (icon::glass())
                    input #search type="search" name="q" value=(self.value) placeholder=(self.hint)
                        aria-label={ "Search by " (self.hint) } autocomplete="off"
                        aria-keyshortcuts="/" spellcheck="false";
                    button.button.plain type="submit" { "Search" }
                }
                @if !self.chips.is_empty() {
                    nav.chips aria-label="Filters" data-results="chips" {
                        @for chip in self.chips {
                            a.chip href=(chip.href) aria-current=[chip.on.then_some("true")] {
                                (chip.label)
                                @if let Some(count) = chip.count { " " (figures::count(count)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Around whatever a search changes: the table, or the words that nothing was found.
pub fn results(body: impl Render) -> Markup {
    html! { div data-results="results" { (body) } }
}

/// Nothing was found; the way back to everything.
pub fn nothing_found(says: &str, everything: &str) -> Markup {
    html! { div.empty.found { p { (says) " " a href=(everything) { "Show everything" } } } }
}

/// An empty list: what the thing is for, the first step, and the same step in a terminal.
pub fn empty(title: &str, why: &str, step: impl Render, curl: Option<&str>) -> Markup {
    html! {
        div.empty {
            div { h2 { (title) } p { (why) } div.buttons { (step) } }
            @if let Some(curl) = curl { (terminal("The same from a terminal", curl)) }
        }
    }
}

/// Lines for a terminal, with a button that copies them.
pub fn terminal(caption: &str, lines: &str) -> Markup {
    html! {
        figure.terminal {
            figcaption { (caption) (figures::copy_button(lines, "the command")) }
            pre tabindex="0" { code { (lines) } }
        }
    }
}
