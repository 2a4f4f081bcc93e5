//! The pieces every page of the portal is made of. Pure: data goes in, markup comes out, escaped;
//! nothing here asks the service, answers a request or needs a script to be useful.
//!
//! A page is a [`Frame`] around [`section`]s. Builders such as [`form::Field`] and [`table::Table`]
//! are set straight into `html!`.

pub mod chart;
pub mod facts;
pub mod figures;
pub mod form;
pub mod frame;
mod icon;
mod mood;
pub mod qr;
pub mod table;

pub use facts::{facts, fold, live, menu, menu_link, section, strip, tabs, tiles};
pub use frame::{Area, Entry, Frame, Person, Said, Theme, plain_page, print_page};
pub use icon::mark;
pub use mood::Mood;

/// The style of every page, served at `/portal/style.css`.
pub const STYLE: &str = concat!(
    include_str!("../assets/tokens.css"),
    "\n",
    include_str!("../assets/pictures.css"),
    "\n",
    include_str!("../assets/portal.css"),
    "\n",
    include_str!("../assets/share.css")
);

/// The script of every page, served at `/portal/portal.js`.
pub const SCRIPT: &str = include_str!("../assets/portal.js");

/// The mark as an icon, served at `/portal/mark.svg`.
pub const MARK: &str = include_str!("../assets/mark.svg");
