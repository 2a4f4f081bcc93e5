//! The code a telephone reads: dark on white whatever the theme, with room around it, and sheets of
//! codes for the printer with marks where to cut.

use maud::{Markup, html};

use super::figures;

/// A code and what stands under it.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    /// Where the picture is.
    pub src: &'a str,
    pub iccid: &'a str,
    /// A line of words, such as the name of the bundle; may be empty.
    pub says: &'a str,
}

/// One card for the screen, at least 240 px wide.
pub fn card(card: Card) -> Markup {
    html! { figure.qr { (picture(card)) } }
}

/// How many codes share an A4 sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerSheet {
    Six,
    Twelve,
}

/// Sheets for the printer; belongs into [`super::print_page`].
pub fn sheets(per: PerSheet, cards: &[Card]) -> Markup {
    let (number, class) = match per {
        PerSheet::Six => (6, "six"),
        PerSheet::Twelve => (12, "twelve"),
    };
    html! {
        @for sheet in cards.chunks(number) {
            div.sheet.(class) {
                @for card in sheet {
                    figure.cut { (picture(*card)) i.marks aria-hidden="true" {} }
                }
            }
        }
    }
}

fn picture(card: Card) -> Markup {
    html! {
        img src=(card.src) width="240" height="240" alt={ "QR code of eSIM " (card.iccid) };
        figcaption {
            (figures::iccid(card.iccid))
            @if !card.says.is_empty() { span { (card.says) } }
        }
    }
}
