-- The head of each audit chain that was announced last, as an event.
alter table audit_export add column announced_sequence integer not null default 0;
alter table audit_export add column announced_at integer not null default 0;
