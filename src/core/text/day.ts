const form = /^(?<year>[0-9]{4})-(?<month>[0-9]{2})-(?<day>[0-9]{2})$/;

/** Returns whether a text is a day of the calendar, `2026-12-31` (RFC 3339, full-date). Days in this form are ordered as texts. */
export function isDay(text: string): boolean {
  const { year, month, day } = form.exec(text)?.groups ?? {};
  if (year === undefined || month === undefined || day === undefined) return false;
  return Number(day) >= 1 && Number(day) <= daysOf(Number(year), Number(month));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] ?? 0;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
