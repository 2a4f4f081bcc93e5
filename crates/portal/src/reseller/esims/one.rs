//! One eSIM: everything that is known of it, on one page that follows changes.

use std::sync::Arc;

use app::catalogue::Catalogue;
use app::esims::diagnosis::{Finding, Known, diagnose};
use app::esims::found::One;
use app::esims::open::OpenWork;
use app::usage::{Series, Span, Step};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::esim::Esim;
use domain::{Mode, Right, Timestamp};
use maud::{Markup, html};

use super::{answer, bundles, codes, menu, phone, sharing, story, usage};
use crate::kit::{Area, figures, live, tiles};
use crate::reseller::desk::Desk;
use crate::reseller::{Trouble, Visit};
use crate::words::esims as words;

/// What every part of the page needs.
pub(super) struct About {
    pub(super) one: One,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) series: Series,
    pub(super) work: OpenWork,
}

impl About {
    pub(super) fn esim(&self) -> &Esim {
        &self.one.esim
    }

    pub(super) fn clock(&self) -> Timestamp {
        self.one.clock
    }

    /// What a country is called.
    pub(super) fn country(&self, iso: &str) -> String {
        let name = app::usage::country_name(&self.catalogue, iso);
        name.unwrap_or_else(|| iso.to_owned())
    }

    /// When data was last used: within the hour that the sums know.
    fn last_use(&self) -> Option<Timestamp> {
        let hour = self.series.steps.iter().rev().find(|(_, bytes)| *bytes > 0)?.0;
        Some(hour.plus_ms(3_600_000).min(self.clock()))
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let covers = |bundle: &str, country: &str| {
            // One that the catalogue does not know any more gets the benefit of the doubt.
            self.catalogue.bundle(bundle).is_none_or(|bundle| {
                bundle.countries.iter().chain(&bundle.roaming).any(|iso| iso == country)
            })
        };
        let failed =
            self.work.jobs.iter().find(|job| job.kind == "network" && !job.error.is_empty());
        diagnose(&Known {
            esim: self.esim(),
            bundles: &self.one.bundles,
            clock: self.clock(),
            last_use: self.last_use(),
            network_error: failed.map(|job| job.error.as_str()),
            covers: &covers,
        })
    }
}

pub(super) async fn page(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let caller = visit.member.caller();
    let one = desk.app.look_at_esim(caller, &iccid).await?.ok_or(Trouble::Missing)?;
    let work = desk.app.open_work(caller, &iccid).await?.ok_or(Trouble::Missing)?;
    let span = Span { from: None, to: None, step: Step::Hour };
    let series = match desk.app.usage_series(caller, Some(iccid.clone()), span).await {
        Ok(series) => series,
        Err(app::usage::Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(Trouble::Missing),
    };
    let about = About { one, catalogue: desk.app.catalogue().await?, series, work };
    let content = content(&desk, &visit, &about).await?;
    let action = html! {
        (figures::copy_button(iccid.as_str(), words::ICCID))
        (menu::menu(&visit, &about))
    };
    let title = words::title(iccid.as_str());
    Ok(visit.live_page((Area::Esims, &title), Some(action), content))
}

async fn content(desk: &Desk, visit: &Visit, about: &About) -> Result<Markup, Trouble> {
    let on_it = bundles::section(desk, visit, about).await?;
    let install = codes::section(desk, visit, about).await?;
    let history = story::history(desk, visit, about).await?;
    let messages = story::messages(desk, visit, about).await?;
    let callbacks = if visit.may(Right::Develop) {
        Some(story::callbacks(desk, visit, about).await?)
    } else {
        None
    };
    let links = if visit.may(Right::Care) {
        Some(sharing::section(desk, visit, about).await?)
    } else {
        None
    };
    let has_phone = visit.may(Right::Develop) && visit.member.caller().mode() == Mode::Sandbox;
    Ok(html! {
        (live("answer", html! { (answer::section(about)) (answer::strip(about)) }))
        @match install {
            Some(install) => (tiles(&[on_it, install])),
            None => (on_it),
        }
        @if has_phone { (phone::section(visit, about)) }
        (live("usage", usage::section(visit, about)))
        (tiles(&[live("history", history), story::facts_about(about)]))
        (live("work", story::work(about)))
        @if let Some(links) = links { (links) }
        (messages)
        @if let Some(callbacks) = callbacks { (live("callbacks", callbacks)) }
    })
}
