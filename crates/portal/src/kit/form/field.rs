//! One field of a form. Label, hint and error belong together, so that a screen reader says all
//! three and a person sees what was wrong where it was wrong.

use maud::{Markup, Render, html};

/// A choice of a select or a group of radio buttons.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    pub value: &'a str,
    pub label: &'a str,
}

/// A field. Make one with [`Field::text`] and its like, then say more about it.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Field<'a> {
    kind: Kind<'a>,
    name: &'a str,
    label: &'a str,
    prefix: &'a str,
    value: &'a str,
    hint: &'a str,
    error: Option<&'a str>,
    required: bool,
    depends: bool,
    focus: bool,
    complete: Option<&'a str>,
    bounds: (Option<i64>, Option<i64>),
    longest: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Input(&'static str, Option<&'static str>),
    Area,
    Select(&'a [Choice<'a>]),
    Radio(&'a [Choice<'a>]),
    Checkbox(bool),
}

impl<'a> Field<'a> {
    /// A line of text.
    pub fn text(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("text", None), name, label)
    }

    /// An e-mail address.
    pub fn email(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("email", None), name, label)
    }

    /// A password. Its value is never written back.
    pub fn password(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("password", None), name, label)
    }

    /// An address on the web.
    pub fn url(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("url", None), name, label)
    }

    /// A whole number.
    pub fn number(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("number", Some("numeric")), name, label)
    }

    /// An amount with decimals; a text field, since number fields differ in how they round.
    pub fn amount(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("text", Some("decimal")), name, label)
    }

    /// A date and a time, which are taken for UTC.
    pub fn moment(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Input("datetime-local", None), name, label)
    }

    /// Six digits from a telephone or the like.
    pub fn code(name: &'a str, label: &'a str) -> Self {
        let field = Self::new(Kind::Input("text", Some("numeric")), name, label);
        field.complete("one-time-code")
    }

    /// Several lines of text.
    pub fn textarea(name: &'a str, label: &'a str) -> Self {
        Self::new(Kind::Area, name, label)
    }

    /// One of many, folded.
    pub fn select(name: &'a str, label: &'a str, choices: &'a [Choice<'a>]) -> Self {
        Self::new(Kind::Select(choices), name, label)
    }

    /// One of few, all seen.
    pub fn radio(name: &'a str, label: &'a str, choices: &'a [Choice<'a>]) -> Self {
        Self::new(Kind::Radio(choices), name, label)
    }

    /// Yes or no; sends `on` for yes.
    pub fn checkbox(name: &'a str, label: &'a str, ticked: bool) -> Self {
        Self::new(Kind::Checkbox(ticked), name, label)
    }

    fn new(kind: Kind<'a>, name: &'a str, label: &'a str) -> Self {
        Self {
            kind,
            name,
            label,
            prefix: "",
            value: "",
            hint: "",
            error: None,
            required: false,
            depends: false,
            focus: false,
            complete: None,
            bounds: (None, None),
            longest: None,
        }
    }

    /// What it holds, or which choice is made.
    pub fn value(self, value: &'a str) -> Self {
        Self { value, ..self }
    }

    /// Words under the field that help before anything is wrong.
    pub fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// What is wrong with what was sent, if anything.
    pub fn error(self, error: Option<&'a str>) -> Self {
        Self { error, ..self }
    }

    /// It must be filled in.
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Another field decides whether it must be: it says neither.
    pub fn depends(self) -> Self {
        Self { depends: true, ..self }
    }

    /// The first field of a page that is nothing but a form.
    pub fn focus(self) -> Self {
        Self { focus: true, ..self }
    }

    /// What a browser may fill in: `username`, `current-password`, `new-password`, `off`.
    pub fn complete(self, what: &'a str) -> Self {
        Self { complete: Some(what), ..self }
    }

    /// The least and the most a number may be.
    pub fn bounds(self, least: Option<i64>, most: Option<i64>) -> Self {
        Self { bounds: (least, most), ..self }
    }

    /// The most characters it takes.
    pub fn longest(self, characters: u32) -> Self {
        Self { longest: Some(characters), ..self }
    }

    /// Sets its ids apart where a page has two fields of one name, in two forms.
    pub fn within(self, form: &'a str) -> Self {
        Self { prefix: form, ..self }
    }

    fn id(&self) -> String {
        if self.prefix.is_empty() {
            return format!("f-{}", self.name);
        }
        format!("f-{}-{}", self.prefix, self.name)
    }

    fn described_by(&self) -> Option<String> {
        let id = self.id();
        match (self.hint.is_empty(), self.error) {
            (true, None) => None,
            (false, None) => Some(format!("{id}-hint")),
            (true, Some(_)) => Some(format!("{id}-error")),
            (false, Some(_)) => Some(format!("{id}-error {id}-hint")),
        }
    }

    fn invalid(&self) -> Option<&'static str> {
        self.error.map(|_| "true")
    }

    fn words(&self) -> Markup {
        let id = self.id();
        html! {
            @if let Some(error) = self.error {
                p.error id={ (id) "-error" } { (crate::kit::Mood::Bad.shape()) span { (error) } }
            }
            @if !self.hint.is_empty() { p.hint id={ (id) "-hint" } { (self.hint) } }
        }
    }

    fn control(&self) -> Markup {
        match self.kind {
            Kind::Input(kind, mode) => self.input(kind, mode),
            Kind::Area => html! {
                textarea id=(self.id()) name=(self.name) rows="4" required[self.required]
                    maxlength=[self.longest] aria-describedby=[self.described_by()]
                    aria-invalid=[self.invalid()] { "\n" (self.value) }
            },
            Kind::Select(choices) => html! {
                select id=(self.id()) name=(self.name) required[self.required]
                    aria-describedby=[self.described_by()] aria-invalid=[self.invalid()] {
                    @for choice in choices {
                        option value=(choice.value) selected[choice.value == self.value] {
                            (choice.label)
                        }
                    }
                }
            },
            Kind::Radio(_) | Kind::Checkbox(_) => html! {},
        }
    }

    fn input(&self, kind: &str, mode: Option<&str>) -> Markup {
        let value = (kind != "password").then_some(self.value);
        html! {
            input id=(self.id()) type=(kind) name=(self.name) value=[value] inputmode=[mode]
                required[self.required] autofocus[self.focus] autocomplete=[self.complete]
                min=[self.bounds.0] max=[self.bounds.1] maxlength=[self.longest]
                aria-describedby=[self.described_by()] aria-invalid=[self.invalid()];
        }
    }

    fn radios(&self, choices: &[Choice]) -> Markup {
        html! {
            fieldset.field aria-describedby=[self.described_by()] {
                legend { (self.label) }
                @for (place, choice) in choices.iter().enumerate() {
                    label.pick {
                        input id={ (self.id()) "-" (place) } type="radio" name=(self.name)
                            value=(choice.value) checked[choice.value == self.value]
                            required[self.required];
                        span { (choice.label) }
                    }
                }
                (self.words())
            }
        }
    }

    fn tick(&self, ticked: bool) -> Markup {
        html! {
            div.field {
                label.pick {
                    input id=(self.id()) type="checkbox" name=(self.name) checked[ticked]
                        required[self.required] aria-describedby=[self.described_by()]
                        aria-invalid=[self.invalid()];
                    span { (self.label) }
                }
                (self.words())
            }
        }
    }
}

impl Render for Field<'_> {
    fn render(&self) -> Markup {
        match self.kind {
            Kind::Radio(choices) => self.radios(choices),
            Kind::Checkbox(ticked) => self.tick(ticked),
            _ => html! {
                div.field {
                    label for=(self.id()) {
                        (self.label)
                        @if !self.required && !self.depends { " " small { "optional" } }
                    }
                    (self.control())
                    (self.words())
                }
            },
        }
    }
}
