-- What a configuration file owns of an organization, as the file was last applied.
create table managed (
  organization_id text not null,
  section text not null,
  name text not null,
  -- Null: it waits for something that others make, such as a group of the directory.
  subject_id text,
  label text not null,
  entry text not null,
  secrets_sealed text,
  -- Since when the thing differs from its entry; announced once.
  drifted_at integer,
  primary key (organization_id, section, name)
) strict, without rowid;
create index managed_subject on managed (organization_id, subject_id);

-- Up to which audit entry an organization's managed things were compared with their entries.
create table managed_check (
  organization_id text not null primary key,
  sequence integer not null
) strict, without rowid;
