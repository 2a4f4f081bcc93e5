//! The people of an organisation, looked after by its owners and admins.

use domain::contact::Email;
use domain::{OrgId, Role, Secret, Timestamp, User, UserId};
use store::users::Account;
use store::{StoreError, Tx, sessions, users as table};

use super::{Kind, Member};
use crate::audit::Act;
use crate::users::{self, NewUser};
use crate::{Actor, App};

/// Why the team stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody of this organisation has that id.
    #[error("there is no such person")]
    Unknown,
    /// Only owners touch owners.
    #[error("only an owner may appoint, change or remove an owner")]
    OwnersOnly,
    /// Somebody must be left who can appoint others.
    #[error("an organisation needs an owner; appoint another one first")]
    LastOwner,
    /// One's own account.
    #[error("nobody can remove or change the role of the own account")]
    Oneself,
    /// The new person does not fit.
    #[error(transparent)]
    User(#[from] users::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A link for somebody, to be handed over.
#[derive(Debug)]
pub struct Invited {
    /// Whose it is.
    pub user: User,
    /// Until when it is good.
    pub expires_at: Timestamp,
    /// What stands in the link.
    pub token: Secret<String>,
}

impl App {
    /// Adds a person and makes the link with which a password is chosen.
    pub async fn invite(&self, member: &Member, email: &str, role: Role) -> Result<Invited, Error> {
        if !member.role().may_appoint(role) {
            return Err(Error::OwnersOnly);
        }
        let new =
            NewUser { role: role.name().to_owned(), email: email.to_owned(), ..NewUser::default() };
        let user = self.add_user(member.actor(), member.org(), new).await?;
        let (token, expires_at) = self.add_link(member, user.id, Kind::Invitation).await?;
        Ok(Invited { user, expires_at, token })
    }

    /// Makes a new link for somebody who has lost the password or the invitation.
    pub async fn new_password_link(&self, member: &Member, id: UserId) -> Result<Invited, Error> {
        let account = self.touchable(member, id).await?;
        let (token, expires_at) = self.add_link(member, id, kind_for(&account.user)).await?;
        Ok(Invited { user: account.user, expires_at, token })
    }

    /// The same for the operator, who may help everybody.
    pub async fn password_link_for(&self, actor: Actor, email: &str) -> Result<Invited, Error> {
        let email = Email::parse(email).map_err(|_| Error::Unknown)?;
        let found = self.store().read(move |tx| table::by_email(tx, &email)).await?;
        self.link_by_operator(actor, found).await
    }

    /// The same for the person of that id.
    pub async fn password_link_of(
        &self,
        actor: Actor,
        org: OrgId,
        id: UserId,
    ) -> Result<Invited, Error> {
        let found = self.store().read(move |tx| table::find(tx, id)).await?;
        self.link_by_operator(actor, found.filter(|found| found.org == org)).await
    }

    async fn link_by_operator(
        &self,
        actor: Actor,
        found: Option<Account>,
    ) -> Result<Invited, Error> {
        let found = found.filter(|found| found.org != OrgId::HOUSE).ok_or(Error::Unknown)?;
        let act = self.act(actor, "user.link");
        let kind = kind_for(&found.user);
        let (token, expires_at) = self.link_for((found.org, found.user.id), kind, act).await?;
        Ok(Invited { user: found.user, expires_at, token })
    }

    /// Gives somebody another role. Takes effect with the next click.
    pub async fn change_role(&self, member: &Member, id: UserId, role: Role) -> Result<(), Error> {
        if !member.role().may_appoint(role) {
            return Err(Error::OwnersOnly);
        }
        self.on_team(member, id, ("user.role", role.name()), move |tx, account| {
            if role != Role::Owner {
                keep_an_owner(tx, account)?;
            }
            let user = User { role, ..account.user.clone() };
            Ok(table::update(tx, &user)?)
        })
        .await
    }

    /// Removes somebody, whose sessions end.
    pub async fn remove_user(&self, member: &Member, id: UserId) -> Result<(), Error> {
        self.on_team(member, id, ("user.remove", ""), |tx, account| {
            keep_an_owner(tx, account)?;
            sessions::end_all(tx, account.user.id)?;
            sessions::drop_links(tx, account.user.id)?;
            Ok(table::remove(tx, account.user.id)?)
        })
        .await
    }

    /// Takes away a second factor that somebody has lost. All sessions end.
    pub async fn drop_factor_of(&self, member: &Member, id: UserId) -> Result<(), Error> {
        self.on_team(member, id, ("user.second-factor.off", ""), |tx, account| {
            sessions::end_all(tx, account.user.id)?;
            Ok(table::drop_factor(tx, account.user.id)?)
        })
        .await
    }

    /// Takes away a second factor for the operator, who may help everybody. All sessions end.
    pub async fn drop_factor_by_operator(&self, actor: Actor, email: &str) -> Result<(), Error> {
        let email = Email::parse(email).map_err(|_| Error::Unknown)?;
        let act = self.act(actor, "user.second-factor.off");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let found = table::by_email(tx, &email)?.ok_or(Error::Unknown)?;
                sessions::end_all(tx, found.user.id)?;
                table::drop_factor(tx, found.user.id)?;
                let whose = Some(found.org).filter(|org| *org != OrgId::HOUSE);
                act.note(tx, whose, found.user.id, "")?;
                Ok(())
            })
            .await
    }

    /// The people of the member's organisation, and whether each has a second factor.
    pub async fn team(&self, member: &Member) -> Result<Vec<(User, bool)>, StoreError> {
        let org = member.org();
        self.store()
            .read(move |tx| {
                let guarded = table::with_factor(tx, org)?;
                let marked = |user: User| {
                    let has_factor = guarded.contains(&user.id);
                    (user, has_factor)
                };
                Ok(table::of_org(tx, org)?.into_iter().map(marked).collect())
            })
            .await
    }

    /// Does something to another person of the member's organisation, and notes it.
    async fn on_team(
        &self,
        member: &Member,
        id: UserId,
        (action, detail): (&'static str, &'static str),
        deed: impl Fn(&mut Tx<'_>, &Account) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let (member, act) = (member.clone(), self.act(member.actor(), action));
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let account = found(tx, &member, id)?;
                deed(tx, &account)?;
                act.note(tx, Some(member.org()), id, detail)?;
                Ok(())
            })
            .await
    }

    async fn touchable(&self, member: &Member, id: UserId) -> Result<Account, Error> {
        let member = member.clone();
        self.store().read(move |tx| found(tx, &member, id)).await
    }

    async fn add_link(
        &self,
        member: &Member,
        id: UserId,
        kind: Kind,
    ) -> Result<(Secret<String>, Timestamp), Error> {
        let act = self.act(member.actor(), "user.link");
        self.link_for((member.org(), id), kind, act).await
    }

    async fn link_for(
        &self,
        (org, id): (OrgId, UserId),
        kind: Kind,
        act: Act,
    ) -> Result<(Secret<String>, Timestamp), Error> {
        let (token, expires_at) = (self.new_token(), self.now().plus(kind.lasts()));
        let digest = self.held_digest(&token).expect("it was made here");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                // One link at a time: what was handed over before opens nothing any more.
                sessions::drop_links(tx, id)?;
                sessions::add_link(tx, &digest, (id, kind.name()), expires_at)?;
                act.note(tx, Some(org), id, kind.name())?;
                Ok::<_, Error>(())
            })
            .await?;
        Ok((Secret::new(token), expires_at))
    }
}

/// Somebody else of the organisation whom the member may touch.
fn found(tx: &mut Tx<'_>, member: &Member, id: UserId) -> Result<Account, Error> {
    let account = table::find(tx, id)?.filter(|account| account.org == member.org());
    let account = account.ok_or(Error::Unknown)?;
    if account.user.id == member.user.id {
        return Err(Error::Oneself);
    }
    if !member.role().may_appoint(account.user.role) {
        return Err(Error::OwnersOnly);
    }
    Ok(account)
}

/// Whoever has no password yet was invited.
fn kind_for(user: &User) -> Kind {
    if user.password_hash.is_none() { Kind::Invitation } else { Kind::Reset }
}

fn keep_an_owner(tx: &mut Tx<'_>, account: &Account) -> Result<(), Error> {
    let is_last =
        account.user.role == Role::Owner && table::with_role(tx, account.org, Role::Owner)? <= 1;
    if is_last { Err(Error::LastOwner) } else { Ok(()) }
}
