//! Forms: fields with their label, hint and error, buttons, and the question before something that
//! costs or cannot be undone.

use maud::{Markup, Render, html};

mod field;

pub use field::{Choice, Field};

/// A form that changes something. `once` is the token that makes a second click harmless.
pub fn form(action: &str, csrf: &str, once: Option<&str>, body: impl Render) -> Markup {
    html! {
        form.form method="post" action=(action) {
            input type="hidden" name="csrf" value=(csrf);
            @if let Some(once) = once { input type="hidden" name="once" value=(once); }
            (body)
        }
    }
}

/// What a button weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The one thing to do here.
    Main,
    /// Everything else.
    Plain,
    /// Takes something away.
    Danger,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Plain => "plain",
            Self::Danger => "danger",
        }
    }
}

/// A button that sends its form.
pub fn button(kind: Kind, label: &str) -> Markup {
    html! { button.button.(kind.class()) type="submit" { (label) } }
}

/// A button that sends its form with a value of its own, where a form has several.
pub fn button_with(kind: Kind, label: &str, (name, value): (&str, &str)) -> Markup {
    html! {
        button.button.(kind.class()) type="submit" name=(name) value=(value) { (label) }
    }
}

/// A link that looks like a button.
pub fn link_button(kind: Kind, label: &str, href: &str) -> Markup {
    html! { a.button.(kind.class()) href=(href) { (label) } }
}

/// The row of buttons at the end of a form.
pub fn buttons(buttons: &[Markup]) -> Markup {
    html! { div.buttons { @for button in buttons { (button) } } }
}

/// Says what will be paid, lost or undone before the form that does it is seen.
pub fn confirm(label: &str, says: impl Render, form: impl Render) -> Markup {
    html! {
        details.confirm {
            summary { (label) }
            div { p { (says) } (form) }
        }
    }
}

/// Errors of a form as a whole: what happened, what was not changed, what to do.
pub fn refused(says: impl Render) -> Markup {
    html! { p.refused role="alert" { (super::Mood::Bad.shape()) span { (says) } } }
}
