export function Mark({ className }: { className: string }) {
  return (
    <svg className={className} viewBox="0 0 22 22" aria-hidden="true" fill="currentColor">
      <path d="M2 5.5h7l2 3 2-3h7v3.2h-5.2L11 14 7.2 8.7H2z" />
      <path d="M2 11.2h4.2l1.7 2.4H2zM20 11.2h-4.2l-1.7 2.4H20zM2 16h7.6L11 18l1.4-2H20v2.4H2z" opacity=".55" />
    </svg>
  );
}
