import sqlite3,re,shutil,hashlib,struct
src=open('/tmp/sqlite/stores/sqlite/sqlite_schema.cpp').read(); chk=open('/tmp/sqlite/stores/sqlite/sqlite_checksum.hpp').read()
def cs(kind,al):
    m=re.search(r'#define TERTULIA_%s_CHECKSUM\(\w\)\s*\\\n((?:.*\\\n)*.*)\n'%kind,chk).group(1)
    m=m.replace('\\\n','\n'); parts=re.findall(r'"([^"]*)"|\b([a-z])\b(?=\s|$)',m)
    return ''.join(p[0] if p[0] or not p[1] else al for p in parts)
def steps():
    for v in(1,2,3):
        t=re.search(r'version_%d = R"\((.*?)\)";'%v,src,re.S).group(1)
        t=re.sub(r'\)" TERTULIA_(\w+)_CHECKSUM\("(\w)"\) R"\(',lambda m:cs(m.group(1),m.group(2)),t); yield t
def rc(*a):
    h=hashlib.sha256()
    for x in a:
        if x is None:h.update(b'n')
        elif isinstance(x,int):h.update(b'i'+struct.pack('<q',x))
        else:
            b=x if isinstance(x,bytes) else x.encode(); h.update(b'b'+struct.pack('<Q',len(b))+b)
    return struct.unpack('>q',h.digest()[:8])[0]
shutil.copy('/tmp/sqlite/tests/support/sqlite_version_1.db','/tmp/me/v.db')
for s in('-wal','-shm'):
    import os
    if os.path.exists('/tmp/me/v.db'+s): os.remove('/tmp/me/v.db'+s)
db=sqlite3.connect('/tmp/me/v.db',isolation_level=None); db.create_function('row_checksum',-1,rc,deterministic=True)
s=list(steps()); db.executescript(s[1]); db.executescript(s[2])
print(db.execute("SELECT id,updated_at,updated_hour,checksum FROM sessions").fetchall())
print(db.execute("SELECT name,sql FROM sqlite_schema WHERE name IN('sessions_by_hour','labels_by_label')").fetchall())
sess=open('/tmp/sqlite/stores/sqlite/sqlite_store_sql.cpp').read()
print(db.execute("SELECT count(*) FROM sessions s WHERE s.updated_hour = s.updated_at / 3600000000000 AND s.checksum="+cs('SESSION','s')).fetchall())
for q in("SELECT DISTINCT session FROM labels WHERE label = ?1 LIMIT ?2","SELECT key FROM sessions WHERE updated_hour >= ?1 LIMIT ?2","SELECT 1 FROM labels WHERE label = ?1 AND session = ?2 LIMIT 1"):
    print(q,db.execute("EXPLAIN QUERY PLAN "+q,('1',2)).fetchall())
print(db.execute("SELECT DISTINCT session FROM labels WHERE label=?1 LIMIT ?2",('good',10)).fetchall())
