-- # expressions over the table of test_naming; DuckDB gives each its name
-- # each line: the name is DuckDB's
-x ^ 2
2 ^ 3 ^ 2
x ^ -1
NOT x = y
-x*2
-x+1
-2 ^ 2
x::int::varchar
x % 2 * 3
x || y + 1
x + y || s
b IS NULL = b
x IS NULL AND b
x + 1 IS NULL
NOT b IS NULL
x between 1 and 2 and b
x in (1) = b
s like 'a' || 'b'
s like 'a' = b
x = 1 or b and b
(x or y) and b
b and (b and b)
(b and b) and b
b or b or b
b and b and b
(b or b) or b
b or (b or b)
"a b"
"a b"+1
"select"+1
"Camel"+1
camel+1
"left"+1
"ü"+1
ü+1
"1a"+1
"q""q"+1
year+1
"X"+1
"x"+1
t."a b"+1
T.X+1
main.t.x+1
sum(x) filter (where b) over (order by x)
sum(distinct x)
sum(all x)
sum(x order by y)
count(distinct (x,y))
row_number() over (partition by x, y order by x asc, y desc nulls first)
sum(x) over (order by x range between unbounded preceding and current row)
sum(x) over (order by x rows unbounded preceding)
sum(x) over (rows between current row and unbounded following)
sum(x) over (order by x groups 1 preceding)
sum(x) over (order by x rows between 1 preceding and 1 following exclude current row)
sum(x) over (order by x rows between 1 preceding and 1 following exclude ties)
sum(x) over (order by x rows between 1 preceding and 1 following exclude group)
sum(x) over (order by x rows between 1 preceding and 1 following exclude no others)
lag(x ignore nulls) over (order by x)
lag(x respect nulls) over (order by x)
sum(x) OVER w
sum(x) OVER (w)
sum(x) over (partition by x)
case when b then 1 when not b then 2 end
case x when 1 then 'a' when 2 then 'b' else 'c' end
case when b then 1 else null end
case when x > 1 and b then 1 end
case when (b) then (1) end + 1
coalesce(x, y)
nullif(x,y)
COALESCE(X,1)
ifnull(x,1)
if(b,x,y)
IF(b,x,y)
extract(month from ts)
extract('year' from d)
extract(dow from d)
extract(EPOCH from d)
date_part('year', d)
DATE_PART('Year', d)
year(d)
month(d)
date_trunc('Month', d)
datetrunc('month', d)
date_diff('day', d, d)
datediff('day', d, d)
trim(s)
ltrim(s)
rtrim(s, 'x')
trim(leading 'x' from s)
trim(trailing from s)
trim(s, 'x')
trim('x' from s)
substring(s, 1, 2)
substr(s,1,2)
substring(s from 2)
substring(s for 2)
position('a' in s)
strpos(s,'a')
instr(s,'a')
left(s,1)
right(s,1)
lower(s)
lcase(s)
upper(s)
ucase(s)
length(s)
len(s)
char_length(s)
strlen(s)
replace(s,'a','b')
concat(s,1,x)
concat_ws('-',s,s)
s || 1
starts_with(s,'a')
prefix(s,'a')
contains(s,'a')
suffix(s,'a')
split_part(s,'a',1)
regexp_matches(s,'a')
reverse(s)
floor(y)
ceil(y)
ceiling(y)
round(y)
round(y, 1)
trunc(y)
abs(x)
sign(x)
sqrt(y)
ln(y)
log(y)
log(2,y)
log10(y)
log2(y)
exp(y)
power(y,2)
pow(y,2)
mod(x,2)
fmod(x,2)
greatest(x,y)
least(x,y)
max(x)
min(x)
MAX(x, 2)
avg(x)
mean(x)
median(x)
var_samp(x)
variance(x)
var_pop(x)
stddev(x)
stddev_samp(x)
stddev_pop(x)
corr(x,y)
covar_pop(x,y)
regr_slope(x,y)
mode(x)
quantile(x,0.5)
quantile_cont(x, [0.1,0.9])
quantile_disc(x,0.5)
percentile_disc(0.5) within group (order by x desc)
mode() within group (order by x)
approx_quantile(x,0.5)
approx_count_distinct(x)
count_if(b)
countif(b)
bool_and(b)
bool_or(b)
any_value(x)
arbitrary(x)
first(x)
last(x)
arg_max(x,y)
max_by(x,y)
argmax(x,y)
arg_min(x,y)
string_agg(s)
group_concat(s, '-')
listagg(s, '-')
list(x)
array_agg(x)
x::bigint
x::int8
x::real
x::float
x::double precision
x::text
x::string
x::char
x::bool
x::decimal
x::numeric(10)
x::numeric(10,2)
x::timestamp
x::datetime
x::date
cast(x as integer)
try_cast(s as decimal(5,1))
timestamp '2020-01-01 00:00:00'
DATE '2020-01-01'
interval 1 month
interval '1' month
interval '1 month'
interval (x) day
interval 2 years
interval 3 hours
interval 1 week
interval 1 quarter
interval 1.5 days
true
FALSE
null
'a'
''
1
1.0
1e3
1E3
5.
001
x is true
x is not false
b is false
b isnull
b notnull
b is unknown
b is not unknown
x is distinct from y
not (x is distinct from y)
x is not distinct from y
exists (select x from t)
not exists (select 1)
(select max(x) from t)
x in (select x from t)
x not in (select x from t)
x not in (1,2)
x in (1)
x not between 1 and 2
not x between 1 and 2
s not like 'a'
not s like 'a'
s not ilike 'a'
s like 'a' escape '$'
s not like 'a' escape '$'
not b
not not b
x <> 1
x != 1
x == 1
x >= 1
[x]
list_value(x)
(x)
- (x)
-(-x)
- -x
-1
-1.5
- 1
1 - -1
-(1)
-(1.5)
x+-1
x-(-1)
dc*2
x/y
x//2
(x+1)::varchar
year(d)+1
current_date
now()
today()
epoch(ts)
strftime(d,'%Y')
strptime(s,'%Y')
make_date(2020,1,1)
dayname(d)
last_day(d)
d + interval 1 day
d - d
d+1
count(*) filter (where x > 1)
count(*)
COUNT ( * )
count(1)
count(*) over ()
Count(*)*100.0/sum(count(*)) over ()
sum(x)::int
rank() over (order by count(*) desc)
ntile(4) over (order by x)
first_value(x) over (order by x)
nth_value(x, 2) over (order by x)
cume_dist() over (order by x)
x*(y+1)
(x*y)+1
x-y-1
x-(y-1)
case when x=1 then 1 else 2 end * 2
hash(x)
md5(s)
histogram(x)
kurtosis(x)
skewness(x)
entropy(x)
product(x)
sem(x)
bit_and(x)
isnan(y)
isfinite(y)
degrees(y)
pi()
sin(y)
atan2(y,y)
quarter(d)
week(d)
dayofweek(d)
monthname(d)
hour(ts)
EPOCH_MS(ts)
epoch_ms(ts + INTERVAL 1 DAY) + 1
TRY_CAST(count(*) AS double)
CAST(y AS Double) * 2
sum(x)::double
TRY_CAST(TRY_CAST(x AS double) AS Bigint)
TRY_CAST(s AS varchar(3))
CAST(s AS char(3))
CAST(s AS character varying)
CAST(x AS "double")
CAST(x AS double precision)
CAST(x AS dec(4,1))
try_cast(count(*) as double)
CAST(x AS double)
x::Double + 1
