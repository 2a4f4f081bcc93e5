//! The entrance: sign in, give the second factor, choose a password through a link, sign out.

use std::convert::Infallible;

use app::people::{Attempt, Entered, Link, MeError, SignInError};
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use domain::{Right, Timestamp};
use maud::{Markup, html};

use super::desk::Desk;
use super::fields::Fields;
use super::routes::session_cookie;
use super::trouble::answer;
use super::visit::{done, moved};
use super::{Form, Routes, Trouble, Visit};
use crate::kit::form::{self, Field};
use crate::kit::{Mood, Said, Theme, plain_page};
use crate::words::entrance as words;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .open_get("/portal/sign-in", sign_in_page)
        .open_post("/portal/sign-in", sign_in)
        .open_get("/portal/code", code_page)
        .open_post("/portal/code", give_code)
        .open_get("/portal/forgot", forgot_page)
        .open_get("/portal/link/{token}", link_page)
        .open_post("/portal/link/{token}", choose_password)
        .post("/portal/sign-out", Right::See, sign_out)
        .post("/portal/theme", Right::See, set_theme)
}

/// Somebody who is not signed in.
#[derive(Debug, Clone)]
pub(super) struct Stranger {
    pub(super) from: Attempt,
    pub(super) csrf: String,
    /// A cookie that makes forms ours, where the browser has none yet.
    pub(super) held: Option<String>,
    /// The session, if any; one that waits for its second factor opens nothing else.
    pub(super) token: String,
    pub(super) query: Fields,
    pub(super) theme: Theme,
    pub(super) said: Option<(Mood, String)>,
}

impl<S: Sync> FromRequestParts<S> for Stranger {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().expect("every route is behind the door"))
    }
}

impl Stranger {
    fn page(&self, status: StatusCode, title: &str, content: &Markup) -> Response {
        let said = self.said.as_ref().map(|(kind, text)| Said { kind: *kind, text });
        let content = html! { @if let Some(said) = said { (said) } (content) };
        let mut response = answer(status, &plain_page(title, self.theme, content));
        if let Some(held) = &self.held {
            let cookie = format!("tern_visit={held}; Path=/portal; HttpOnly; SameSite=Strict");
            append(&mut response, &cookie);
        }
        if self.said.is_some() {
            append(&mut response, "tern_said=; Path=/portal; Max-Age=0");
        }
        response
    }
}

async fn sign_in_page(stranger: Stranger) -> Response {
    let next = stranger.query.text("next").to_owned();
    let content = sign_in_form(&stranger, ("", &next), None);
    stranger.page(StatusCode::OK, words::TITLE, &content)
}

fn sign_in_form(stranger: &Stranger, (email, next): (&str, &str), refused: Option<&str>) -> Markup {
    let body = html! {
        @if let Some(refused) = refused { (form::refused(refused)) }
        input type="hidden" name="next" value=(next);
        (Field::email("email", words::EMAIL).value(email).required().focus().complete("username"))
        (Field::password("password", words::PASSWORD).required().complete("current-password"))
        (form::buttons(&[form::button(form::Kind::Main, words::SIGN_IN)]))
    };
    html! {
        (form::form("/portal/sign-in", &stranger.csrf, None, body))
        p { a href="/portal/forgot" { (words::FORGOT) } }
    }
}

async fn sign_in(
    State(desk): State<Desk>,
    stranger: Stranger,
    form: Form,
) -> Result<Response, Trouble> {
    let (email, next) = (form.text("email"), form.text("next"));
    let refused = match desk.app.sign_in(email, &form.secret("password"), &stranger.from).await {
        Ok(entered) => return Ok(welcome(&desk, &entered, next)),
        Err(SignInError::Store(error)) => return Err(error.into()),
        Err(SignInError::Wait(until)) => (StatusCode::TOO_MANY_REQUESTS, wait(&desk, until)),
        Err(_) => (StatusCode::UNPROCESSABLE_ENTITY, words::WRONG.to_owned()),
    };
    let content = sign_in_form(&stranger, (email, next), Some(&refused.1));
    Ok(stranger.page(refused.0, words::TITLE, &content))
}

pub(super) fn wait(desk: &Desk, until: Timestamp) -> String {
    words::wait((until.ms() - desk.app.rt().now().ms() + 999) / 1_000)
}

/// On to where the person wanted to go, or to the second factor first.
fn welcome(desk: &Desk, entered: &Entered, next: &str) -> Response {
    let next = if is_within(next) { next } else { "/portal" };
    let path = if entered.awaits_code { "/portal/code" } else { next };
    let mut response = moved(path, None);
    append(&mut response, &hold(desk, entered.token.expose()));
    response
}

/// Whether a path stays in the portal: nobody is led astray by a link to the sign-in page.
pub(super) fn is_within(path: &str) -> bool {
    let rest = path.strip_prefix("/portal");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
        && path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
}

/// The cookie of a session. It ends with the browser, or when the session does.
fn hold(desk: &Desk, token: &str) -> String {
    let secure = if desk.is_secure { "; Secure" } else { "" };
    format!("{}={token}; Path=/; HttpOnly; SameSite=Lax{secure}", session_cookie(desk))
}

async fn code_page(stranger: Stranger) -> Response {
    let content = code_form(&stranger, None);
    stranger.page(StatusCode::OK, words::CODE_TITLE, &content)
}

fn code_form(stranger: &Stranger, refused: Option<&str>) -> Markup {
    let code = Field::code("code", words::CODE).hint(words::CODE_HINT).required().focus();
    let body = html! {
        @if let Some(refused) = refused { (form::refused(refused)) }
        (code)
        (form::buttons(&[form::button(form::Kind::Main, words::CODE_BUTTON)]))
    };
    html! {
        (form::form("/portal/code", &stranger.csrf, None, body))
        p { (words::LOST_CODE) }
        p { a href="/portal/sign-in" { (words::BACK) } }
    }
}

async fn give_code(
    State(desk): State<Desk>,
    stranger: Stranger,
    form: Form,
) -> Result<Response, Trouble> {
    let given = desk.app.give_code(&stranger.token, form.text("code"), &stranger.from).await;
    let refused = match given {
        Ok(entered) => return Ok(welcome(&desk, &entered, "/portal")),
        Err(SignInError::Store(error)) => return Err(error.into()),
        Err(SignInError::TooLate) => {
            return Ok(moved("/portal/sign-in", Some((Mood::Bad, words::TOO_LATE.to_owned()))));
        }
        Err(SignInError::Wait(until)) => (StatusCode::TOO_MANY_REQUESTS, wait(&desk, until)),
        Err(_) => (StatusCode::UNPROCESSABLE_ENTITY, words::WRONG_CODE.to_owned()),
    };
    let content = code_form(&stranger, Some(&refused.1));
    Ok(stranger.page(refused.0, words::CODE_TITLE, &content))
}

async fn forgot_page(stranger: Stranger) -> Response {
    let content = html! {
        @for text in words::FORGOT_TEXT { p { (text) } }
        (form::link_button(form::Kind::Plain, words::BACK, "/portal/sign-in"))
    };
    stranger.page(StatusCode::OK, words::FORGOT_TITLE, &content)
}

async fn link_page(
    State(desk): State<Desk>,
    stranger: Stranger,
    Path(token): Path<String>,
) -> Result<Response, Trouble> {
    let Some(link) = desk.app.password_link(&token).await? else { return Ok(no_link(&stranger)) };
    Ok(link_answer(&stranger, (&token, &link), None))
}

fn link_answer(
    stranger: &Stranger,
    (token, link): (&str, &Link),
    refused: Option<&str>,
) -> Response {
    let password = Field::password("password", words::NEW_PASSWORD).hint(words::NEW_PASSWORD_HINT);
    let body = html! {
        // For password managers, which file a password under its user.
        input type="email" name="email" value=(link.email) autocomplete="username" hidden;
        (password.error(refused).required().focus().complete("new-password"))
        (form::buttons(&[form::button(form::Kind::Main, words::SET_PASSWORD)]))
    };
    let content = html! {
        p { (words::link_text(link.kind, &link.email)) }
        (form::form(&format!("/portal/link/{token}"), &stranger.csrf, None, body))
    };
    let status = match refused {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    stranger.page(status, &words::link_title(link.kind, &link.organisation), &content)
}

fn no_link(stranger: &Stranger) -> Response {
    let content = html! {
        p { (words::NO_LINK) }
        (form::link_button(form::Kind::Plain, words::BACK, "/portal/sign-in"))
    };
    stranger.page(StatusCode::NOT_FOUND, words::NO_LINK_TITLE, &content)
}

async fn choose_password(
    State(desk): State<Desk>,
    stranger: Stranger,
    Path(token): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let Some(link) = desk.app.password_link(&token).await? else { return Ok(no_link(&stranger)) };
    match desk.app.choose_password(&token, &form.secret("password")).await {
        Ok(()) => {
            let says = (Mood::Good, words::PASSWORD_SET.to_owned());
            Ok(moved("/portal/sign-in", Some(says)))
        }
        Err(MeError::Unfit(_)) => Ok(link_answer(&stranger, (&token, &link), Some(words::UNFIT))),
        Err(MeError::Store(error)) => Err(error.into()),
        Err(_) => Ok(no_link(&stranger)),
    }
}

async fn sign_out(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    desk.app.sign_out(&visit.token).await?;
    let mut response = done("/portal/sign-in", words::GOODBYE);
    append(&mut response, &format!("{}; Max-Age=0", hold(&desk, "")));
    Ok(response)
}

/// Light or dark, remembered for a year.
async fn set_theme(form: Form) -> Response {
    let back = form.text("back");
    let mut response = moved(if is_within(back) { back } else { "/portal" }, None);
    let theme = Theme::parse(form.text("theme")).word();
    let cookie = format!("tern_theme={theme}; Path=/; Max-Age=31536000; SameSite=Lax");
    append(&mut response, &cookie);
    response
}

fn append(response: &mut Response, cookie: &str) {
    let cookie = HeaderValue::from_str(cookie).expect("our own words and base 64");
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_out_of_the_portal() {
        for path in ["/portal", "/portal/esims?q=1", "/portal?x"] {
            assert!(is_within(path), "{path}");
        }
        let astray =
            ["", "//evil.example", "/portal\\@evil", "https://evil", "/portals", "/portal\n"];
        for path in astray {
            assert!(!is_within(path), "{path}");
        }
    }
}
