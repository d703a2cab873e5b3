-- Credentials of programs that administer an organization; without an organization they are the operator's.
create table access_token (
  id text collate "C" primary key,
  organization_id text collate "C" references organization (id),
  name text collate "C" not null,
  digest text collate "C" not null unique,
  hint text collate "C" not null,
  permissions text collate "C" not null,
  cidrs text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  creator_user_id text collate "C" references "user" (id),
  expires_at bigint,
  expiring_announced_at bigint,
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C",
  revoked_at bigint,
  revoked_by text collate "C"
);
create index access_token_organization on access_token (organization_id, id);
create index access_token_expiry on access_token (expires_at) where expires_at is not null and revoked_at is null;
