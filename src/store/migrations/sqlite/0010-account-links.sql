-- The organization whose directory or provider wrote a person's address: there it counts, elsewhere only once the
-- organization has proven the domain. Empty: proven for the whole installation.
alter table "user" add column email_organization_id text;
update "user" set email_organization_id =
  (select min(organization_id) from directory_user
    where directory_user.user_id = "user".id and directory_user.created_at = "user".created_at)
  where email_key is not null;

-- What no owner stands behind in this link: the connection or the directory that it came through.
alter table identity add column awaits_owner text check (awaits_owner in ('connection', 'directory'));
update identity set awaits_owner = 'connection'
  where connection_id in (select id from connection where set_by_owner = 0);
