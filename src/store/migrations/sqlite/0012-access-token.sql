-- Credentials of programs that administer an organization; without an organization they are the operator's.
create table access_token (
  id text primary key,
  organization_id text references organization (id),
  name text not null,
  digest text not null unique,
  hint text not null,
  permissions text not null,
  cidrs text,
  created_at integer not null,
  created_by text,
  creator_user_id text references "user" (id),
  expires_at integer,
  expiring_announced_at integer,
  last_used_at integer,
  last_used_address text,
  last_used_agent text,
  revoked_at integer,
  revoked_by text
) strict;
create index access_token_organization on access_token (organization_id, id);
create index access_token_expiry on access_token (expires_at) where expires_at is not null and revoked_at is null;
