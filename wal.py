import sqlite3,os,shutil,struct
d='/tmp/me/wal'; shutil.rmtree(d,ignore_errors=True); os.makedirs(d)
a=d+'/a.db'; c=sqlite3.connect(a,isolation_level=None); c.executescript("PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;CREATE TABLE t(x)")
begins=[]
for i in range(12):
    begins.append((os.path.getsize(a+'-wal')-32)//4120); c.execute("INSERT INTO t VALUES(?)",('x'*3000,))
def check(bit=None,cut=None,n=[0]):
    n[0]+=1; b=f'{d}/b{n[0]}.db'
    for s in('','-wal'): shutil.copy(a+s,b+s)
    if bit is not None:
        w=bytearray(open(b+'-wal','rb').read()); w[bit//8]^=1<<bit%8; open(b+'-wal','wb').write(w)
    if cut: os.truncate(b+'-wal',cut)
    x=sqlite3.connect(b,isolation_level=None)
    try: rows=x.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] and x.execute("SELECT count(*) FROM t").fetchone()[0]
    except Exception as e: rows=repr(e)
    mode=x.execute("PRAGMA journal_mode").fetchone()[0]
    mx=struct.unpack('=I',open(b+'-shm','rb').read(20)[16:20])[0]
    f=open(b+'-wal','rb').read(); salts=f[16:24]; pos=32+mx*4120; k=0; last=None
    while pos+4120<=len(f):
        h=f[pos:pos+16]; e=h[4:8]!=b'\0'*4 and h[8:]==salts
        if e and h[:4]!=last: k+=1
        last=h[:4] if e else None; pos+=4120
    x.close(); return mode,rows,mx,k
print(begins, check())
for i in(0,5,9,10,11): print(i,check(bit=(32+begins[i]*4120+2000)*8))
print('cut',check(cut=32+(begins[11])*4120+100)); 
for bit in(3,70,100,8*16+3,8*24+1): print('header bit',bit,check(bit=bit))
