-- An organization's directory: what numbers its users and groups, in the order in which they came.
create table directory (
  organization_id text primary key references organization (id),
  next_position integer not null default 1,
  last_request_at integer
) strict;

create table directory_token (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null,
  digest text not null unique,
  hint text not null,
  created_at integer not null,
  created_by text,
  last_used_at integer,
  last_used_address text,
  last_used_agent text,
  revoked_at integer,
  revoked_by text
) strict;
create index directory_token_organization on directory_token (organization_id, id);

-- A user of the directory; its id is that of the membership. `attributes` is what SCIM answers, `folded` the same as
-- filters compare it: lower case where case does not matter, times and booleans as integers.
create table directory_user (
  id text primary key,
  organization_id text not null references organization (id),
  user_id text not null references "user" (id),
  position integer not null,
  user_name_key text not null,
  external_id text,
  active integer not null check (active in (0, 1)),
  attributes text not null,
  folded text not null,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  -- An externalId belongs to one user. Users that shared one before this rule are each marked with their own id.
  shared_external_id text not null default ''
) strict;
create unique index directory_user_position on directory_user (organization_id, position);
create unique index directory_user_name on directory_user (organization_id, user_name_key);
create unique index directory_user_external on directory_user (organization_id, external_id, shared_external_id)
where external_id is not null;
create index directory_user_person on directory_user (user_id);

create table directory_email (
  organization_id text not null,
  value_key text not null,
  directory_user_id text not null,
  primary key (organization_id, value_key, directory_user_id)
) strict, without rowid;
create index directory_email_user on directory_email (directory_user_id);

-- Who was deleted by the directory: comes back as the same member when the directory sends the same externalId.
create table directory_departed (
  organization_id text not null,
  external_id text not null,
  directory_user_id text not null,
  user_id text not null,
  departed_at integer not null,
  primary key (organization_id, external_id)
) strict, without rowid;

create table directory_group (
  id text primary key,
  organization_id text not null references organization (id),
  position integer not null,
  display_name_key text not null,
  external_id text,
  attributes text not null,
  folded text not null,
  role text check (role in ('admin', 'developer', 'viewer')),
  members integer not null default 0,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;
create unique index directory_group_position on directory_group (organization_id, position);
create index directory_group_name on directory_group (organization_id, display_name_key);
create index directory_group_external on directory_group (organization_id, external_id) where external_id is not null;

create table directory_member (
  group_id text not null,
  directory_user_id text not null,
  organization_id text not null,
  primary key (group_id, directory_user_id)
) strict, without rowid;
create index directory_member_user on directory_member (directory_user_id, group_id);

-- How many users or groups sit in each range of positions: totals and jumps without counting rows.
create table directory_count (
  organization_id text not null,
  kind text not null check (kind in ('user', 'group')),
  bucket integer not null,
  amount integer not null,
  primary key (organization_id, kind, bucket)
) strict, without rowid;

-- What the directory asked and what we did; bounded, without secrets.
create table directory_request (
  organization_id text not null,
  id text not null,
  token_id text not null,
  at integer not null,
  method text not null,
  path text not null,
  status integer not null,
  scim_type text,
  detail text,
  sent text,
  duration_us integer not null,
  address text,
  agent text,
  -- What was passed over of the request (a JSON list of names).
  ignored text,
  -- The user or group that the request was about.
  resource_id text,
  primary key (organization_id, id)
) strict, without rowid;
