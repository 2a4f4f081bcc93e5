//! The people of an organisation, looked after by its owners and admins.

use domain::contact::Email;
use domain::{OrgId, Role, Secret, User, UserId};
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
        let token = self.add_link(member, user.id, Kind::Invitation).await?;
        Ok(Invited { user, token })
    }

    /// Makes a new link for somebody who has lost the password or the invitation.
    pub async fn new_password_link(&self, member: &Member, id: UserId) -> Result<Invited, Error> {
        let account = self.touchable(member, id).await?;
        let is_new = account.user.password_hash.is_none();
        let kind = if is_new { Kind::Invitation } else { Kind::Reset };
        let token = self.add_link(member, id, kind).await?;
        Ok(Invited { user: account.user, token })
    }

    /// The same for the operator, who may help anybody.
    pub async fn password_link_for(&self, actor: Actor, email: &str) -> Result<Invited, Error> {
        let unknown = || Error::User(users::Error::UnknownUser);
        let email = Email::parse(email).map_err(|_| unknown())?;
        let found = self.store().read(move |tx| table::by_email(tx, &email)).await?;
        let account = found.filter(|found| found.org != OrgId::HOUSE).ok_or_else(unknown)?;
        let act = self.act(actor, "user.link");
        let token = self.link_for((account.org, account.user.id), Kind::Reset, act).await?;
        Ok(Invited { user: account.user, token })
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

    /// The people of the member's organisation, and whether each has a second factor.
    pub async fn team(&self, member: &Member) -> Result<Vec<(User, bool)>, StoreError> {
        let org = member.org();
        self.store()
            .read(move |tx| {
                let mut team = Vec::new();
                for user in table::of_org(tx, org)? {
                    let factor = table::find(tx, user.id)?.and_then(|account| account.factor);
                    team.push((user, factor.is_some_and(|factor| factor.on_at.is_some())));
                }
                Ok(team)
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
    ) -> Result<Secret<String>, Error> {
        let act = self.act(member.actor(), "user.link");
        self.link_for((member.org(), id), kind, act).await
    }

    async fn link_for(
        &self,
        (org, id): (OrgId, UserId),
        kind: Kind,
        act: Act,
    ) -> Result<Secret<String>, Error> {
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
        Ok(Secret::new(token))
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

fn keep_an_owner(tx: &mut Tx<'_>, account: &Account) -> Result<(), Error> {
    let is_last =
        account.user.role == Role::Owner && table::with_role(tx, account.org, Role::Owner)? <= 1;
    if is_last { Err(Error::LastOwner) } else { Ok(()) }
}
