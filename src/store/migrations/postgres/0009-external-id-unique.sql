-- An externalId belongs to one user. Those that shared one before this rule keep it, each marked with its own id.
alter table directory_user add column shared_external_id text collate "C" not null default '';
update directory_user set shared_external_id = id
where external_id is not null and exists (
  select 1 from directory_user as other
  where other.organization_id = directory_user.organization_id
    and other.external_id = directory_user.external_id and other.id <> directory_user.id
);
drop index directory_user_external;
create unique index directory_user_external on directory_user (organization_id, external_id, shared_external_id)
where external_id is not null;
