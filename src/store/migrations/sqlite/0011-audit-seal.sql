-- Vouches for where a chain of audit entries ends (docs/decisions/018). Rows of before are sealed by whoever runs this.
alter table organization_head add column audit_seal text not null default 'unsealed';
