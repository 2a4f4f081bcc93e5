//! What is shown only after the password was given once more: the primary key and the webhook
//! secret. Rendered straight into the answer, never into an address or a cookie.

use axum::extract::State;
use axum::response::Response;
use domain::{Right, Secret};
use maud::{Markup, html};

use super::{Page, Part, callbacks, keys};
use crate::kit::figures;
use crate::kit::form::{self, Field, Kind};
use crate::reseller::desk::Desk;
use crate::reseller::visit::moved;
use crate::reseller::{Form, Routes, Trouble, Visit, account, refused};
use crate::words::developers as all;
use crate::words::developers::{callbacks as callback_words, keys as words};

const KEY: &str = "/portal/developers/key";
const SECRET: &str = "/portal/developers/secret";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(KEY, Right::Develop, async || moved(keys::HOME, None))
        .post(KEY, Right::Develop, show_key)
        .get(SECRET, Right::Develop, async || moved(callbacks::HOME, None))
        .post(SECRET, Right::Develop, show_secret)
}

/// Asks for the password, then leads to the primary key.
pub(super) fn ask_for_key(visit: &Visit) -> Markup {
    ask(visit, (KEY, "key"), [words::SHOW, words::SHOW_SAYS, words::SHOW_BUTTON])
}

/// The same for the webhook secret.
pub(super) fn ask_for_secret(visit: &Visit) -> Markup {
    let says = [
        callback_words::SECRET_SHOW,
        callback_words::SECRET_SHOW_SAYS,
        callback_words::SECRET_SHOW_BUTTON,
    ];
    ask(visit, (SECRET, "secret"), says)
}

fn ask(visit: &Visit, (action, name): (&str, &str), [label, says, button]: [&str; 3]) -> Markup {
    let fields = html! {
        (password_field(visit, name))
        (form::buttons(&[form::button(Kind::Main, button)]))
    };
    form::confirm(label, says, form::form(action, &visit.csrf, None, fields))
}

/// The field that asks for the password once more, in a form of its own name.
pub(super) fn password_field(visit: &Visit, name: &str) -> Markup {
    html! {
        (account::username(visit))
        (Field::password("password", all::PASSWORD).within(name).required()
            .complete("current-password"))
    }
}

/// Whether that password was right; the answer if it was not.
pub(super) async fn refusal(
    desk: &Desk,
    visit: &Visit,
    form: &Form,
    back: &str,
) -> Result<Option<Response>, Trouble> {
    let password = form.secret("password");
    match desk.app.confirm_password(&visit.member, &password, &visit.from).await {
        Ok(()) => Ok(None),
        Err(error) => Ok(Some(refused(back, account::why(desk, error)?))),
    }
}

async fn show_key(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let shown = desk.app.show_key(&visit.member, &form.secret("password"), &visit.from).await;
    let key = match shown {
        Ok(Some(key)) => key,
        Ok(None) => return Ok(refused(keys::HOME, words::NO_PRIMARY)),
        Err(error) => return Ok(refused(keys::HOME, account::why(&desk, error)?)),
    };
    let content = html! {
        (shown_once(&key, words::SHOWN_SAYS, words::API_KEY))
        (form::link_button(Kind::Plain, words::BACK, keys::HOME))
    };
    Ok(Page::behind(Part::Keys, words::SHOWN_TITLE).show(&visit, &content))
}

async fn show_secret(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let password = form.secret("password");
    let secret = match desk.app.show_webhook_secret(&visit.member, &password, &visit.from).await {
        Ok(secret) => secret,
        Err(error) => return Ok(refused(callbacks::HOME, account::why(&desk, error)?)),
    };
    let content = html! {
        (shown_once(&secret, callback_words::SECRET_SHOWN, callback_words::SECRET_NAME))
        (form::link_button(Kind::Plain, callback_words::SECRET_BACK, callbacks::HOME))
    };
    Ok(Page::behind(Part::Callbacks, callback_words::SECRET_TITLE).show(&visit, &content))
}

/// A secret text, with a button that copies it.
pub(super) fn shown_once(text: &Secret<String>, says: &str, name: &str) -> Markup {
    html! {
        section.part {
            p { (says) }
            p { (figures::copyable(text.expose(), name)) }
        }
    }
}
