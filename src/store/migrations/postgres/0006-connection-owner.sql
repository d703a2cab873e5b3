-- Whether an owner or the operator saved the connection last: only such a connection signs an owner in unasked.
alter table connection add column set_by_owner bigint not null default 0 check (set_by_owner in (0, 1));
