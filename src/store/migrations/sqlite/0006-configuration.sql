-- The things of an organization that a configuration file manages, as the file was last applied.
create table managed (
  organization_id text not null,
  section text not null,
  name text not null,
  -- Null while the entry waits for something that is made elsewhere, such as a group of the directory.
  subject_id text,
  label text not null,
  entry text not null,
  secrets_sealed text,
  -- Since when the thing has differed from its entry. The difference is announced once.
  drifted_at integer,
  primary key (organization_id, section, name)
) strict, without rowid;
create index managed_subject on managed (organization_id, subject_id);

-- The last audit entry up to which an organization's managed things were compared with their entries.
create table managed_check (
  organization_id text not null primary key,
  sequence integer not null
) strict, without rowid;
